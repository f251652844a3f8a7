-- Erases some entries from before an epoch. KEYS[1] opens all keys of the owner's cache. ARGV: the epoch, where in the index to
-- go on ('0' at first), and about how many entries to look at. Answers how many went, how many the index held of them, and where to
-- go on; '0' behind the last.
local base = KEYS[1]
local index = base .. ':index'
write_when_full('ZREM', index)
local below = redis.call('GET', base .. ':below') or ''
if below < ARGV[1] then redis.call('SET', base .. ':below', ARGV[1]) end
local removed, listed = 0, 0
-- Not by rank, which changes with each entry that goes: a scan returns every entry that is in the index from its first step to its
-- last.
local page = redis.call('ZSCAN', index, ARGV[2], 'COUNT', ARGV[3])
-- Each is followed by its score.
for i = 1, #page[2], 2 do
  local entry = page[2][i]
  if string.sub(entry, 1, 20) < ARGV[1] then
    removed = removed + redis.call('UNLINK', base .. ':' .. entry)
    listed = listed + redis.call('ZREM', index, entry)
  end
end
return { 'ok', removed, listed, page[1] }
