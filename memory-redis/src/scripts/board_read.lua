-- Returns keys and entries that live; no use is counted.
local live = {}
local all = redis.call('HGETALL', entries)
for i = 1, #all, 2 do
  if is_live(all[i + 1]) then
    live[#live + 1] = all[i]
    live[#live + 1] = all[i + 1]
  end
end
return { 'ok', live }
