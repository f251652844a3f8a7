-- Erases some entries from before an epoch. KEYS[1] opens all keys of the owner's cache. ARGV: the epoch, where in the
-- index to begin, and how many entries to look at. Answers how many went, where to go on, and whether there are more.
local base = KEYS[1]
local index = base .. ':index'
local below = redis.call('GET', base .. ':below') or ''
if below < ARGV[1] then redis.call('SET', base .. ':below', ARGV[1]) end
local first, some = tonumber(ARGV[2]), tonumber(ARGV[3])
local removed, kept = 0, 0
local entries = redis.call('ZRANGE', index, first, first + some - 1)
for _, entry in ipairs(entries) do
  if string.sub(entry, 1, 20) < ARGV[1] then
    removed = removed + redis.call('UNLINK', base .. ':' .. entry)
    redis.call('ZREM', index, entry)
  else
    kept = kept + 1
  end
end
return { 'ok', removed, first + kept, #entries == some and 1 or 0 }
