-- Archives the active rows of a span behind a summary. ARGV: session, epoch and generation of the fence, first and last of
-- the span, the summary's row, then the ids that the caller saw.
local s = load_session(ARGV[1])
if ARGV[2] ~= epoch or ARGV[3] ~= s.generation then return { 'fenced' } end
local first, last, summary = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local id = string.sub(summary, 1, 16)

local entry = redis.call('HGET', ids, id)
local there = follow(id, entry, s)
if there then
  local row = there.row
  local is_repeat = is_content(row) and is_summary(there.place) and there.session == s.name
    and string.sub(row, 17, 48) == string.sub(summary, 17, 48)
  if not is_repeat then return { 'taken', id } end
  if redis.call('ZSCORE', s.keys.summaries, there.place) then
    -- A server that was killed may have kept so much that the summary is there: what it stands for leaves the window now.
    local before = s.count
    for _, covered in ipairs(covered_by(s, id)) do leave(s, covered, redis.call('HGET', s.keys.rows, covered)) end
    if s.count ~= before or redis.call('ZCARD', s.keys.window) ~= s.count then
      s.revision = s.revision + 1
      save_session(s)
    end
    return { 'ok', state_of(s) }
  end
end
if first < 1 or first > last or last > s.head then return { 'conflict' } end

local places = {}
for _, place in ipairs(redis.call('ZRANGEBYSCORE', s.keys.window, first, last)) do
  if not there or place ~= there.place then places[#places + 1] = place end
end
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
for _, place in ipairs(redis.call('ZRANGEBYSCORE', s.keys.summaries, '(' .. ARGV[5], text(s.head))) do
  if redis.call('ZSCORE', s.keys.window, place) and begin_of(redis.call('HGET', s.keys.rows, place)) <= last then
    return { 'conflict' }
  end
end

if there then
  -- A server that was killed kept its beginning, which comes to nothing.
  redis.call('ZREM', s.keys.window, there.place)
  redis.call('HDEL', s.keys.rows, there.place)
end
-- What it covers leaves the window last, and is marked before there is the summary: forgetting goes by the marks. Nor is there ever
-- a row of it to which its id does not lead.
local place = fresh_place(s, last)
redis.call('HSET', s.keys.originals, id, table.concat(places, ' '))
for _, covered in ipairs(places) do redis.call('HSET', s.keys.marks, covered, id) end
redis.call('HSET', ids, id, entry_of(s, place))
redis.call('HSET', s.keys.rows, place, summary)
enter(s, place, summary)
redis.call('ZADD', s.keys.summaries, ARGV[5], place)
for i, covered in ipairs(places) do leave(s, covered, rows[i]) end
s.revision = s.revision + 1
save_session(s)
return { 'ok', state_of(s) }
