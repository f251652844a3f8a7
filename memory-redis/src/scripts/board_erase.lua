-- Erases a board, unless that was done for this epoch before. ARGV besides: the epoch. Answers how many entries went.
if (redis.call('HGET', board, 'epoch') or '') >= ARGV[2] then return { 'ok', 0 } end
local removed = redis.call('HLEN', entries)
redis.call('UNLINK', board, entries, counts, uses, expiring)
redis.call('HSET', board, 'epoch', ARGV[2])
return { 'ok', removed }
