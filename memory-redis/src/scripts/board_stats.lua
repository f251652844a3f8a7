-- Answers how many entries live and have expired, and the other figures.
local expired = redis.call('ZCOUNT', expiring, '-inf', now)
local figures = redis.call('HMGET', board, 'accesses', 'evictions', 'hits', 'misses')
for i = 1, 4 do figures[i] = figures[i] or '0' end
return { 'ok', math.max(redis.call('HLEN', entries) - expired, 0), expired, unpack(figures) }
