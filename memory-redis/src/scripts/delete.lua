-- Deletes what a session holds, at once whatever its size: its rows belong to a generation that has passed, and
-- `clear` takes them away. ARGV: two for `prepare`, session, then what was seen of it: epoch, generation, head and
-- revision. What was begun since stays, and what has changed since is a conflict. Answers how many messages it held.
-- It stays on the list of sessions until `clear` is done, so that an append that a server has acknowledged, and repeats behind a
-- deletion that it had not, finds it there.
local s = load_session(ARGV[3])
local generation = tonumber(s.generation)
local is_newer = epoch > ARGV[4] or epoch == ARGV[4] and generation > tonumber(ARGV[5])
if is_newer and epoch == ARGV[4] then
  -- It is noted again: what a server that was killed kept of the deletion may stand in front of a settlement that knew nothing of it.
  write_when_full('HDEL', owner)
  local unprepared = prepare()
  if unprepared then return unprepared end
  mark('s' .. s.name, 'replaced', 1, s.head, '1')
end
if s.head == 0 or is_newer then return { 'ok', '0' } end
local is_seen = epoch == ARGV[4] and generation == tonumber(ARGV[5])
if not is_seen or s.head ~= tonumber(ARGV[6]) or s.revision ~= tonumber(ARGV[7]) then return { 'conflict' } end
write_when_full('HDEL', owner)
local unprepared = prepare()
if unprepared then return unprepared end
-- Until its counters say that it holds nothing, it lives: then `clear` leaves it alone, and an index puts it again.
mark('s' .. s.name, 'replaced', 1, s.head, '1')
redis.call('RPUSH', base .. ':dead', s.generation .. ' ' .. s.name)
redis.call('SADD', base .. ':emptied', s.name)
-- Revisions of another generation are told apart by it.
local revision = (math.floor(s.revision / 1024) + 1) * 1024
redis.call('HSET', s.key, 'gen', text(generation + 1), 'rev', text(revision), 'head', '0', 'count', '0', 'tokens', '0',
  'pinned', '1', 'at', '', 'rank', '0', 'held', '0', 'asked', '0')
mark('s' .. s.name, 'replaced', 1, 0, '1')
return { 'ok', text(s.held) }
