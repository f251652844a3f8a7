-- Returns what stands under ids. ARGV: ids. Answers for each session, place, row and archive mark, or nothing.
local answers = {}
for i, entry in ipairs(in_portions('HMGET', ids, ARGV)) do
  local there = entry and follow(entry)
  local row = there and redis.call('HGET', there.keys.rows, there.place)
  if is_content(row) then
    answers[i] = { there.session, there.place, row, redis.call('HGET', there.keys.marks, there.place) }
  else
    answers[i] = {}
  end
end
return { 'ok', answers }
