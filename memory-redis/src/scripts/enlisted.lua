-- Puts what is known of an index in the place of what was read, if that is still there. KEYS[1] is the hash of indexes, ARGV
-- the index's name, the old state and the new one. Answers whether it was.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return { 'ok', '0' } end
-- An erasure steps walks back, also while memory is full.
write_when_full('HDEL', KEYS[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return { 'ok', '1' }
