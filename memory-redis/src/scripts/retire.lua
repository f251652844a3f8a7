-- Drops an index of an owner with its notes. ARGV: the index's name.
write_when_full('HDEL', owner)
if not indexes then
  -- A first write that is under way may have read the indexes before this one went: it has to look again.
  redis.call('HINCRBY', owner, 'round', 1)
  return { 'ok' }
end
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
