-- Returns an entry and counts its use. ARGV besides: key. Answers entry, count and time; nothing if there is none.
write_when_full('HDEL', board)
local entry = redis.call('HGET', entries, ARGV[4])
if not entry or not is_live(entry) then
  redis.call('HINCRBY', board, 'misses', 1)
  return { 'ok' }
end
redis.call('HINCRBY', board, 'hits', 1)
return { 'ok', entry, access(ARGV[4]), now }
