-- Lets an index follow an owner, and notes for it what is stored. ARGV: two for `prepare`, the index's name and token.
local mine = ARGV[3] .. '=' .. ARGV[4]
-- An owner without anything learns of the index with its first write.
if not indexes then return { 'ok' } end
local others = {}
for entry in string.gmatch(indexes, '%S+') do
  if entry == mine then return { 'ok' } end
  local name, token = string.match(entry, '^(%S+)=(%S+)$')
  if name == ARGV[3] then
    -- Left behind by a retirement that did not come to its end.
    redis.call('UNLINK', note_keys(token))
  else
    others[#others + 1] = entry
  end
end
others[#others + 1] = mine
indexes = table.concat(others, ' ')
local unprepared = prepare()
if unprepared then return unprepared end
redis.call('HSET', owner, 'indexes', indexes)
for _, name in ipairs(redis.call('ZRANGE', base .. ':sessions', 0, -1)) do
  mark_for(ARGV[4], 's' .. name, 'appended', 1, tonumber(redis.call('HGET', base .. ':s:' .. name, 'head')), '0')
end
return { 'ok' }
