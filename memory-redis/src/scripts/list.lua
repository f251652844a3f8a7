-- Puts an owner on a list. KEYS[1] is the list, ARGV the owner's key, then its score, or `-` for one behind all others', and `1` if
-- it is put there for a call that makes room.
-- Where owners go again the score is the time, and never one twice: who removes an owner names the score that he saw.
local score = ARGV[2]
if score == '-' then
  local now = redis.call('TIME')
  local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
  score = string.format('%.0f', math.max(now[1] * 1000000 + now[2], tonumber(last or 0) + 1))
end
if ARGV[3] == '1' then write_when_full('ZREM', KEYS[1]) end
redis.call('ZADD', KEYS[1], score, ARGV[1])
return { 'ok' }
