-- Returns the newest values of a list. KEYS[1] opens all keys of the owner's cache. ARGV: epoch, key, how many, and the
-- present by the clock of the store.
local base = KEYS[1]
local key = base .. ':' .. ARGV[1] .. ':' .. ARGV[2]
if (redis.call('GET', base .. ':below') or '') > ARGV[1] then return { 'ok', {} } end
if redis.call('TYPE', key)['ok'] ~= 'list' or redis.call('LINDEX', key, 0) <= ARGV[4] then return { 'ok', {} } end
-- The first element is when the list expires.
local count = math.min(tonumber(ARGV[3]), redis.call('LLEN', key) - 1)
if count < 1 then return { 'ok', {} } end
return { 'ok', redis.call('LRANGE', key, -count, -1) }
