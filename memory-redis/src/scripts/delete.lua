-- Deletes what a session holds, at once whatever its size: its rows belong to a generation that has passed, and
-- `clear` takes them away. ARGV: two for `prepare`, session, then what was seen of it: epoch, generation, head and
-- revision. What was begun since stays, and what has changed since is a conflict. Answers how many messages it held.
local s = load_session(ARGV[3])
local generation = tonumber(s.generation)
local is_newer = epoch > ARGV[4] or epoch == ARGV[4] and generation > tonumber(ARGV[5])
if s.head == 0 or is_newer then return { 'ok', '0' } end
local is_seen = epoch == ARGV[4] and generation == tonumber(ARGV[5])
if not is_seen or s.head ~= tonumber(ARGV[6]) or s.revision ~= tonumber(ARGV[7]) then return { 'conflict' } end
local unprepared = prepare()
if unprepared then return unprepared end
redis.call('RPUSH', base .. ':dead', s.generation .. ' ' .. s.name)
redis.call('DEL', s.key)
-- Revisions of another generation are told apart by it.
local revision = (math.floor(s.revision / 1024) + 1) * 1024
redis.call('HSET', s.key, 'gen', text(tonumber(s.generation) + 1), 'rev', text(revision))
redis.call('ZREM', base .. ':sessions', s.name)
redis.call('SADD', base .. ':emptied', s.name)
mark('s' .. s.name, 'replaced', 1, 0, '1')
return { 'ok', text(s.held) }
