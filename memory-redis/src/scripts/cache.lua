-- Opens scripts that put into a cache. KEYS[1] opens all keys of the owner's cache. ARGV: epoch, key, milliseconds to live,
-- when it expires by the clock of the store (20 digits that sort), and the value.
local base = KEYS[1]
-- Entries of an epoch before this one are erased: a late put changes nothing.
local is_late = (redis.call('GET', base .. ':below') or '') > ARGV[1]
local entry = ARGV[1] .. ':' .. ARGV[2]
local key = base .. ':' .. entry

-- Notes the entry for an erasure. The index lives as long as the longest entry in it, for whatever has no time to live is
-- truth, which volatile-* policies protect.
local function index()
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', base .. ':index', '-inf', string.format('%.0f', now))
  redis.call('ZADD', base .. ':index', string.format('%.0f', now + tonumber(ARGV[3])), entry)
  if redis.call('PTTL', base .. ':index') < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', base .. ':index', ARGV[3])
  end
end
