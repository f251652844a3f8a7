-- Returns keys and entries that live, each with how often and when it was used (or empty); no use is counted.
local live = {}
local all = redis.call('HGETALL', entries)
for i = 1, #all, 2 do
  if is_live(all[i + 1]) then
    live[#live + 1] = all[i]
    live[#live + 1] = all[i + 1]
    live[#live + 1] = redis.call('HGET', counts, all[i]) or ''
  end
end
return { 'ok', live }
