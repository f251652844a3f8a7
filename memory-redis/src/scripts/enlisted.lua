-- Notes that all owners know an index, unless it was retired meanwhile. KEYS[1] is the hash of indexes, ARGV the index's
-- name and token.
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] .. ' walking' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' done')
end
return { 'ok' }
