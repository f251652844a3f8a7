-- Drops an index of an owner with its notes. ARGV: the index's name.
if not indexes then return { 'ok' } end
local others = {}
for entry in string.gmatch(indexes, '%S+') do
  local name, token = string.match(entry, '^(%S+)=(%S+)$')
  if name == ARGV[1] then
    redis.call('UNLINK', note_keys(token))
  else
    others[#others + 1] = entry
  end
end
redis.call('HSET', owner, 'indexes', table.concat(others, ' '))
return { 'ok' }
