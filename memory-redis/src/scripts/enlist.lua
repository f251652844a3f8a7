-- Lets an index follow an owner, and notes some of what is stored for it. ARGV: two for `prepare`, the index's name and token,
-- behind which session as ZRANGEBYLEX takes it, and how many. Answers how many there were, and the last of them.
if not indexes then
  -- An owner without anything learns of the index with its first write; one that is under way has to look again.
  redis.call('HINCRBY', owner, 'round', 1)
  return { 'ok', '0', '' }
end
local mine, is_known, others = ARGV[3] .. '=' .. ARGV[4], false, {}
for entry in string.gmatch(indexes, '%S+') do
  local name, token = string.match(entry, '^(%S+)=(%S+)$')
  if entry == mine then
    is_known = true
  elseif name == ARGV[3] then
    -- Left behind by a retirement that did not come to its end.
    redis.call('UNLINK', note_keys(token))
  else
    others[#others + 1] = entry
  end
end
if not is_known then
  others[#others + 1] = mine
  indexes = table.concat(others, ' ')
end
local unprepared = prepare()
if unprepared then return unprepared end
redis.call('HSET', owner, 'indexes', indexes)
local names = redis.call('ZRANGEBYLEX', base .. ':sessions', ARGV[5], '+', 'LIMIT', 0, ARGV[6])
for _, name in ipairs(names) do
  -- A server that was killed may have kept the name alone.
  local head = tonumber(redis.call('HGET', base .. ':s:' .. name, 'head') or 0)
  if head > 0 then mark_for(ARGV[4], 's' .. name, 'changed', 1, head, '0') end
end
return { 'ok', text(#names), names[#names] or '' }
