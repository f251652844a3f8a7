-- Removes a summary and makes what it covered active again. ARGV: session, the summary's id.
local s = load_session(ARGV[1])
local there = follow(ARGV[2], redis.call('HGET', ids, ARGV[2]), s)
local covered = covered_by(s, ARGV[2])
if there then
  if there.session ~= s.name or not is_summary(there.place) or not is_content(there.row) then
    return { 'ok', state_of(s) }
  end
  if redis.call('HGET', s.keys.marks, there.place) then return { 'conflict' } end
else
  -- A server that was killed may have kept so much that the summary is gone, and what it covered is still marked. Where a restore
  -- has not brought the summary yet, nothing of that is active.
  local is_half = false
  for _, place in ipairs(covered) do
    is_half = is_half or redis.call('ZSCORE', s.keys.window, place)
  end
  if not is_half then return { 'ok', state_of(s) } end
end
enter_all(s, covered)
if there then
  remove_summary(s, there.place, there.row)
  redis.call('HDEL', s.keys.rows, there.place)
end
redis.call('HDEL', ids, ARGV[2])
unmark(s, covered, ARGV[2])
s.revision = s.revision + 1
save_session(s)
return { 'ok', state_of(s) }
