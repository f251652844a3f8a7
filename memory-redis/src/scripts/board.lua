-- Opens every script of a board. KEYS[1] is the hash of its figures, and opens its other keys: entries as
-- `number at expiry content`, how often and when each was used, keys by last use, keys by expiry. ARGV[1] is the present in
-- microseconds, or empty for the server's clock, ARGV[2] the owner's epoch, and ARGV[3] is empty where a use keeps no entry.
local board = KEYS[1]
local entries, counts, uses, expiring = board .. ':e', board .. ':n', board .. ':u', board .. ':x'
local now = ARGV[1]
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%.0f', time[1] * 1000000 + time[2])
end

-- A later epoch empties the board. How many entries went, an erasure tells.
local epoch = redis.call('HGET', board, 'epoch') or '00000000000000000000'
local removed = 0
if epoch > ARGV[2] then return { 'fenced' } end
if epoch < ARGV[2] then
  removed = redis.call('HLEN', entries)
  redis.call('UNLINK', board, entries, counts, uses, expiring)
  redis.call('HSET', board, 'epoch', ARGV[2])
end

local function remove(key)
  redis.call('HDEL', entries, key)
  redis.call('HDEL', counts, key)
  redis.call('ZREM', uses, key)
  redis.call('ZREM', expiring, key)
end

local function is_live(entry)
  local expiry = string.match(entry, '^%d+ %-?%d+ (%S+) ')
  return expiry == '-' or tonumber(expiry) > tonumber(now)
end

-- Removes what has expired and returns how many entries that were.
local function sweep()
  local gone = redis.call('ZRANGEBYSCORE', expiring, '-inf', now)
  for _, key in ipairs(gone) do remove(key) end
  return #gone
end

-- Uses are numbered, because a clock may stand still.
local function count_use(key)
  local number = redis.call('HINCRBY', board, 'last', 1)
  redis.call('ZADD', uses, number, key)
  return number
end

-- Counts the use of an entry and returns how often it was used, this time included.
local function access(key)
  redis.call('HINCRBY', board, 'accesses', 1)
  if ARGV[3] ~= '' then count_use(key) end
  local count = string.match(redis.call('HGET', counts, key) or '0', '^%d+') + 1
  redis.call('HSET', counts, key, string.format('%.0f %s', count, now))
  return string.format('%.0f', count)
end
