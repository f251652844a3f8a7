-- Counts the use of entries that a search found. ARGV besides: keys, each with the number of its entry. Answers for each the
-- count, or nothing if it is gone or another one by now; and the time.
write_when_full('HDEL', board)
local answers = {}
for i = 4, #ARGV, 2 do
  local entry = redis.call('HGET', entries, ARGV[i])
  local is_there = entry and string.match(entry, '^%d+') == ARGV[i + 1] and is_live(entry)
  answers[#answers + 1] = is_there and access(ARGV[i])
end
return { 'ok', answers, now }
