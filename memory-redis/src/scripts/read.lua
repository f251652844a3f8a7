-- Reads a page. ARGV: session, view, `before` or `after`, the number there, how many rows, tokens or `-`, the last number
-- to look at, and how many bytes to gather at the most.
-- Answers state, whether there is more, places, rows, archive marks (none for the window). Rows at one number are never
-- split.
local s = load_session(ARGV[1])
local view, is_backwards = ARGV[2], ARGV[3] == 'before'
local limit, budget, most = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
if limit == 0 or s.head == 0 then
  return { 'ok', state_of(s), 0, {}, {} }
end

-- Returns up to `count` places of a sorted set from the edge on, none behind the session's end.
local function slice(key, count)
  if is_backwards then
    local edge = tonumber(ARGV[4]) > s.head and text(s.head) or '(' .. ARGV[4]
    return redis.call('ZREVRANGEBYSCORE', key, edge, '-inf', 'LIMIT', 0, count)
  end
  local last = text(math.min(s.head, tonumber(ARGV[7])))
  return redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[4], last, 'LIMIT', 0, count)
end

local function window()
  local places = slice(s.keys.window, limit + 1)
  if #places <= limit then return places, 0 end
  local cut = number_of(places[limit])
  if number_of(places[limit + 1]) ~= cut then
    places[limit + 1] = nil
    return places, 1
  end
  while #places > 0 and number_of(places[#places]) == cut do places[#places] = nil end
  local command = is_backwards and 'ZREVRANGEBYSCORE' or 'ZRANGEBYSCORE'
  for _, place in ipairs(redis.call(command, s.keys.window, cut, cut)) do places[#places + 1] = place end
  return places, 1
end

-- Messages stand at every number, so the log is counted, not looked up.
local function log(with_summaries)
  local first, last
  if is_backwards then
    last = math.min(s.head, tonumber(ARGV[4]) - 1)
    first = math.max(1, last - limit + 1)
  else
    first = tonumber(ARGV[4]) + 1
    last = math.min(s.head, tonumber(ARGV[7]), first + limit - 1)
  end
  if first > last then return {}, 0 end
  local above = {}
  if with_summaries then
    for _, place in ipairs(redis.call('ZRANGEBYSCORE', s.keys.summaries, first, last)) do
      local number = number_of(place)
      above[number] = above[number] or {}
      table.insert(above[number], place)
    end
  end
  local places, number, step = {}, is_backwards and last or first, is_backwards and -1 or 1
  while number >= first and number <= last and #places < limit do
    local here = above[number] or {}
    table.insert(here, 1, text(number))
    for i = 1, #here do places[#places + 1] = here[is_backwards and #here + 1 - i or i] end
    number = number + step
  end
  local is_more = is_backwards and number >= 1 or not is_backwards and number <= math.min(s.head, tonumber(ARGV[7]))
  return places, is_more and 1 or 0
end

-- Returns the place of the newest summary in the window, if it lies on the page's side of the edge.
local function newest_summary()
  for from = 0, s.count, 16 do
    local some = redis.call('ZREVRANGEBYSCORE', s.keys.summaries, text(s.head), '-inf', 'LIMIT', from, 16)
    if #some == 0 then return end
    for _, place in ipairs(some) do
      if redis.call('ZSCORE', s.keys.window, place) then
        local number = number_of(place)
        local is_inside = is_backwards and number < tonumber(ARGV[4])
        is_inside = is_inside or not is_backwards and number > tonumber(ARGV[4]) and number <= tonumber(ARGV[7])
        return is_inside and place or nil
      end
    end
  end
end

-- Returns the places of instructions on the page's side of the edge, nearest first: all that one step may hold.
local function pins()
  if s.is_pinned then return slice(s.keys.pins, limit + 1) end
  local inside = {}
  for _, place in ipairs(find_pins(s)) do
    local number = tonumber(place)
    if is_backwards and number < tonumber(ARGV[4]) then table.insert(inside, 1, place) end
    if not is_backwards and number > tonumber(ARGV[4]) and number <= tonumber(ARGV[7]) then inside[#inside + 1] = place end
  end
  return inside
end

local function pinned()
  local places, summary = pins(), newest_summary()
  if summary then
    local at, number = 1, number_of(summary)
    -- A summary stands behind the message of its number.
    local function is_before(place)
      if is_backwards then return tonumber(place) > number end
      return tonumber(place) <= number
    end
    while places[at] and is_before(places[at]) do at = at + 1 end
    table.insert(places, at, summary)
  end
  local kept = math.min(limit, #places)
  while kept > 0 and places[kept + 1] and number_of(places[kept + 1]) == number_of(places[kept]) do kept = kept + 1 end
  local is_more = #places > kept
  for i = #places, kept + 1, -1 do places[i] = nil end
  return places, is_more and 1 or 0
end

local places, more
if view == 'active' then
  places, more = window()
elseif view == 'pinned' then
  places, more = pinned()
else
  places, more = log(view == 'all')
end
if #places == 0 then return { 'ok', state_of(s), 0, {}, {} } end

-- Fetches rows, up to the one that crosses the tokens or the bytes: a few at first, because each may be very large.
local rows, first, width = {}, 1, 4
local tokens, bytes, full_at, is_cut = 0, 0, nil, false
while first <= #places and not is_cut do
  local last = math.min(first + width - 1, #places)
  for i, row in ipairs(redis.call('HMGET', s.keys.rows, unpack(places, first, last))) do
    local place = places[first + i - 1]
    if full_at and number_of(place) ~= full_at then
      is_cut = true
      break
    end
    rows[#rows + 1] = row
    bytes = bytes + (row and #row or 0)
    if budget and is_content(row) then tokens = tokens + tonumber(tokens_of(row)) end
    if bytes > most or (budget and tokens > budget) then full_at = number_of(place) end
  end
  first, width = last + 1, math.min(2 * width, 32)
  if full_at and places[first] and number_of(places[first]) ~= full_at then is_cut = true end
end
if #rows < #places then
  more = 1
  for i = #places, #rows + 1, -1 do places[i] = nil end
end
if view == 'active' or view == 'pinned' then return { 'ok', state_of(s), more, places, rows } end
return { 'ok', state_of(s), more, places, rows, in_portions('HMGET', s.keys.marks, places) }
