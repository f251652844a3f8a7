-- Returns what stands under ids. ARGV: how many bytes to gather at the most, then ids. Answers for each session, place, row
-- and archive mark, or nothing; as far as the one that crosses the bytes. The row of a forgotten message has its id alone.
local wanted, answers, bytes = {}, {}, 0
for i = 2, #ARGV do wanted[i - 1] = ARGV[i] end
for i, entry in ipairs(in_portions('HMGET', ids, wanted)) do
  local there = follow(wanted[i], entry)
  if there then
    answers[i] = { there.session, there.place, there.row, redis.call('HGET', there.keys.marks, there.place) }
    bytes = bytes + #there.row
    if bytes > tonumber(ARGV[1]) then break end
  else
    answers[i] = {}
  end
end
return { 'ok', answers }
