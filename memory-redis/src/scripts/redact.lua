-- Forgets messages and summaries. ARGV: two for `prepare`, what the names of those begin with who find facts, then ids. Answers for
-- each that was touched its id, session, place, and the summaries that fell with it.
-- What is forgotten already is looked at again: a server that was killed may have kept the beginning of its forgetting, and carried
-- it out in front of a fold or a settlement that knew nothing of it.
local wanted, standing = {}, {}
for i = 4, #ARGV do wanted[i - 3] = ARGV[i] end
for i, entry in ipairs(in_portions('HMGET', ids, wanted)) do
  local there = follow(wanted[i], entry)
  if there then standing[#standing + 1] = { id = wanted[i], there = there } end
end
if #standing == 0 then return { 'ok', {} } end
write_when_full('HDEL', owner)
local unprepared = prepare()
if unprepared then return unprepared end

local touched, sessions = {}, {}

-- Returns where a summary stands that has content.
local function place_of(s, summary)
  local there = follow(summary, redis.call('HGET', ids, summary), s)
  return there and there.session == s.name and is_content(there.row) and there.place
end

-- Returns from which number on and up to which one a row has words of what stood there.
local function span_of(place, row)
  local last = number_of(place)
  return tonumber(string.match(row, '^%d+ %d+ (%d+)', 49) or last), last
end

-- Returns the spans of a session's summaries by their first numbers, each with the furthest last number up to it. A call reads them
-- once.
local function spans_of(s)
  local spans, names, places, known = {}, redis.call('HKEYS', s.keys.originals), {}, {}
  if #names == 0 then return spans end
  local entries = in_portions('HMGET', ids, names)
  for i, summary in ipairs(names) do
    local generation, place, session = string.match(entries[i] or '', '^(%S+) (%S+) (%S+)$')
    if session == s.name and generation == s.generation and is_summary(place) and number_of(place) <= s.head then
      places[#places + 1], known[#known + 1] = place, summary
    end
  end
  if #places == 0 then return spans end
  for i, row in ipairs(in_portions('HMGET', s.keys.rows, places)) do
    if is_content(row) and string.sub(row, 1, 16) == known[i] then
      local first, last = span_of(places[i], row)
      spans[#spans + 1] = { id = known[i], first = first, last = last }
    end
  end
  table.sort(spans, function(one, other) return one.first < other.first end)
  local furthest = 0
  for _, span in ipairs(spans) do
    furthest = math.max(furthest, span.last)
    span.furthest = furthest
  end
  return spans
end

-- Returns the summaries that cover a place by their spans, which lie one in the other or apart. The marks lead to the same ones,
-- except where a server that was killed carried out a fold or an unfolding in front of what knew nothing of it.
local function covering(s, place)
  s.spans = s.spans or spans_of(s)
  local first, last = span_of(place, redis.call('HGET', s.keys.rows, place))
  -- The last span that begins at the place or before it.
  local low, high = 0, #s.spans
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if s.spans[middle].first <= first then low = middle else high = middle - 1 end
  end
  local found = {}
  while low > 0 and s.spans[low].furthest >= last do
    local span = s.spans[low]
    -- Of two summaries with one span, the marks alone tell which one is inside.
    local is_apart = not is_summary(place) or span.first < first or last < span.last
    if last <= span.last and is_apart and place_of(s, span.id) then found[#found + 1] = span.id end
    low = low - 1
  end
  return found
end

-- Forgets a summary that covered something, and brings back what it stood for.
local function dissolve(s, summary, number)
  local there = follow(summary, redis.call('HGET', ids, summary), s)
  if not there then
    -- One that a restore has not brought yet must not come any more, so its id is taken.
    local place = fresh_place(s, number)
    redis.call('HSET', s.keys.rows, place, summary)
    redis.call('HSET', ids, summary, entry_of(s, place))
  -- A restored mark may name a message, which stands for nothing.
  elseif there.session == s.name and is_summary(there.place) then
    remove_summary(s, there.place, there.row)
    redis.call('HSET', s.keys.rows, there.place, summary)
  end
  bring_back(s, summary)
end

-- Adds the summaries that stand for a place to those that fall, each in front of what stands for it.
local function add_fallen(s, place, fallen, seen)
  local mark, above = redis.call('HGET', s.keys.marks, place), {}
  if mark then above[1] = mark end
  for _, summary in ipairs(covering(s, place)) do above[#above + 1] = summary end
  for _, summary in ipairs(above) do
    -- Restored marks may point in a circle.
    if not seen[summary] then
      seen[summary] = true
      fallen[#fallen + 1] = summary
      local stands_at = place_of(s, summary)
      if stands_at then add_fallen(s, stands_at, fallen, seen) end
    end
  end
end

local function forget(s, id, place)
  local fallen = {}
  add_fallen(s, place, fallen, {})
  -- From the outermost on: by what is left, a repetition finds the rest.
  for i = #fallen, 1, -1 do dissolve(s, fallen[i], number_of(place)) end
  local row = redis.call('HGET', s.keys.rows, place)
  if is_summary(place) then
    remove_summary(s, place, row)
  elseif is_content(row) then
    leave(s, place, row)
    s.held = s.held - 1
  end
  -- What was forgotten already is counted nowhere.
  redis.call('ZREM', s.keys.window, place)
  redis.call('HSET', s.keys.rows, place, id)
  if is_summary(place) then bring_back(s, id) end
  s.revision, s.is_changed = s.revision + 1, true
  return fallen
end

for _, one in ipairs(standing) do
  local there = one.there
  local s = sessions[there.session] or load_session(there.session)
  sessions[there.session] = s
  if not is_summary(there.place) then
    local number = number_of(there.place)
    s.from, s.upto = math.min(s.from or number, number), math.max(s.upto or number, number)
  end
end
-- Noted first, and again by a repetition. Neighbours are searched by the words of it too. Who finds facts holds none of them.
for _, s in pairs(sessions) do
  if s.from then
    mark('s' .. s.name, 'changed', math.max(s.from - 1, 1), math.min(s.upto + 1, s.head), '0', ARGV[3])
  end
end
for _, one in ipairs(standing) do
  local s, place = sessions[one.there.session], one.there.place
  -- It may have fallen with another of the list.
  local is_there = is_content(redis.call('HGET', s.keys.rows, place))
  local is_half = redis.call('HGET', s.keys.marks, place) or redis.call('ZSCORE', s.keys.window, place)
    or redis.call('HEXISTS', s.keys.originals, one.id) == 1
  if is_there or is_half then
    local fallen = forget(s, one.id, place)
    if is_there or #fallen > 0 then touched[#touched + 1] = { one.id, s.name, place, fallen } end
  end
end
for _, s in pairs(sessions) do
  local is_miscounted = redis.call('ZCARD', s.keys.window) ~= s.count
  if is_miscounted and not s.is_changed then s.revision = s.revision + 1 end
  if is_miscounted or s.is_changed then save_session(s) end
end
return { 'ok', touched }
