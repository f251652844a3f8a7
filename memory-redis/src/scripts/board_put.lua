-- Puts an entry. ARGV besides: key, content, microseconds to live (or empty), expiry (or empty, then counted from now),
-- capacity. Answers the keys evicted.
local key, capacity, expiry = ARGV[4], tonumber(ARGV[8]), ARGV[7]
remove(key)
if redis.call('HLEN', entries) >= capacity then sweep() end
local evicted = {}
while redis.call('HLEN', entries) >= capacity do
  local oldest = redis.call('ZRANGE', uses, 0, 0)[1]
  if not oldest then
    -- The server has evicted the order of the entries: what is left of the board goes.
    redis.call('UNLINK', entries, counts, expiring)
    break
  end
  remove(oldest)
  redis.call('HINCRBY', board, 'evictions', 1)
  evicted[#evicted + 1] = oldest
end
if expiry == '' and ARGV[6] ~= '' then
  expiry = string.format('%.0f', tonumber(now) + tonumber(ARGV[6]))
end
local number = count_use(key)
redis.call('HSET', entries, key, string.format('%.0f %s %s ', number, now, expiry == '' and '-' or expiry) .. ARGV[5])
if expiry ~= '' then redis.call('ZADD', expiring, expiry, key) end
return { 'ok', evicted }
