-- Puts an owner on the list of those with notes, behind all others. KEYS[1] is the list, ARGV the owner's key.
-- The score is the time, and never one twice: who removes an owner names the score that he saw.
local now = redis.call('TIME')
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local score = math.max(now[1] * 1000000 + now[2], tonumber(last or 0) + 1)
redis.call('ZADD', KEYS[1], string.format('%.0f', score), ARGV[1])
return { 'ok' }
