-- Removes a summary and makes what it covered active again. ARGV: session, the summary's id.
local s = load_session(ARGV[1])
local entry = redis.call('HGET', ids, ARGV[2])
local there = entry and follow(entry, s)
if not there or there.session ~= s.name or not is_summary(there.place) then return { 'ok', state_of(s) } end
local row = redis.call('HGET', s.keys.rows, there.place)
if not is_content(row) then return { 'ok', state_of(s) } end
if redis.call('HGET', s.keys.marks, there.place) then return { 'conflict' } end
remove_summary(s, there.place, row)
bring_back(s, ARGV[2])
redis.call('HDEL', s.keys.rows, there.place)
redis.call('HDEL', ids, ARGV[2])
s.revision = s.revision + 1
save_session(s)
return { 'ok', state_of(s) }
