-- Archives the active rows of a span behind a summary. ARGV: session, epoch and generation of the fence, first and last of
-- the span, the summary's row, then the ids that the caller saw.
local s = load_session(ARGV[1])
if ARGV[2] ~= epoch or ARGV[3] ~= s.generation then return { 'fenced' } end
local first, last, summary = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local id = string.sub(summary, 1, 16)

local entry = redis.call('HGET', ids, id)
local there = entry and follow(entry, s)
if there then
  local row = redis.call('HGET', there.keys.rows, there.place)
  local is_repeat = is_content(row) and is_summary(there.place) and there.session == s.name
    and string.sub(row, 17, 48) == string.sub(summary, 17, 48)
  if is_repeat then return { 'ok', state_of(s) } end
  return { 'taken', id }
end
if first < 1 or first > last or last > s.head then return { 'conflict' } end

local places = redis.call('ZRANGEBYSCORE', s.keys.window, first, last)
if #places == 0 or #places ~= #ARGV - 6 then return { 'conflict' } end
local function begin_of(row)
  return tonumber(string.match(row, '^%d+ %d+ (%d+)', 49))
end
local rows = in_portions('HMGET', s.keys.rows, places)
for i, row in ipairs(rows) do
  if string.sub(row, 1, 16) ~= ARGV[6 + i] then return { 'conflict' } end
  if is_summary(places[i]) and begin_of(row) < first then return { 'conflict' } end
end
-- An active summary behind the span that begins in it would be cut.
for _, place in ipairs(redis.call('ZRANGEBYSCORE', s.keys.summaries, '(' .. ARGV[5], '+inf')) do
  if redis.call('ZSCORE', s.keys.window, place) and begin_of(redis.call('HGET', s.keys.rows, place)) <= last then
    return { 'conflict' }
  end
end

for i, place in ipairs(places) do
  leave(s, place, rows[i])
  redis.call('HSET', s.keys.marks, place, id)
end
redis.call('HSET', s.keys.originals, id, table.concat(places, ' '))
local place = fresh_place(s, last)
redis.call('HSET', s.keys.rows, place, summary)
redis.call('ZADD', s.keys.summaries, ARGV[5], place)
redis.call('HSET', ids, id, entry_of(s, place))
enter(s, place, summary)
s.revision = s.revision + 1
save_session(s)
return { 'ok', state_of(s) }
