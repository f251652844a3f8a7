-- Sessions. Rows stand in a hash under their places: `7` is message 7, `7:0000000002` a summary that stands at 7.
-- A row is its id (16 bytes), digest (32 bytes), `tokens at first.counter `, body and checksum (8 bytes), without `.counter`
-- where nobody knows who counted; of what is forgotten the id alone is left.
-- The id map of the epoch leads from an id to `generation place session`.
local ids = base .. ':ids'

-- Calls a command that takes any number of arguments in portions, because a call takes some thousands at the most.
local function in_portions(command, key, list)
  local answers, width = {}, 2000
  if #list <= width then
    return redis.call(command, key, unpack(list))
  end
  for first = 1, #list, width do
    local part = redis.call(command, key, unpack(list, first, math.min(first + width - 1, #list)))
    if type(part) == 'table' then
      for _, answer in ipairs(part) do answers[#answers + 1] = answer end
    end
  end
  return answers
end

-- The keys of a session's present generation: rows, archive marks, window, summaries, what summaries stand for, and the
-- instructions in the window.
local function keys_of(session, generation)
  local tail = ':' .. generation .. ':' .. session
  return { rows = base .. ':r' .. tail, marks = base .. ':a' .. tail, window = base .. ':w' .. tail,
    summaries = base .. ':y' .. tail, originals = base .. ':o' .. tail, pins = base .. ':i' .. tail }
end

local function load_session(session)
  local key = base .. ':s:' .. session
  local row = redis.call('HMGET', key, 'gen', 'rev', 'head', 'count', 'tokens', 'at', 'rank', 'held', 'pinned', 'asked')
  local generation = row[1] or '0'
  return { key = key, name = session, generation = generation, revision = tonumber(row[2] or 0),
    head = tonumber(row[3] or 0), count = tonumber(row[4] or 0), tokens = row[5] or '0', at = row[6] or '',
    rank = tonumber(row[7] or 0), held = tonumber(row[8] or 0), is_pinned = row[9] or not row[3], asked = row[10] or '0',
    keys = keys_of(session, generation) }
end

-- Returns whether a row is an instruction: its body opens with version, id and role.
local function is_instruction(place, row)
  local role = string.match(row, '^[^{]*{"v":%d+,"id":"[^"]*","role":"(%a+)"', 49)
  return (role == 'system' or role == 'developer') and not string.find(place, ':', 1, true)
end

-- Returns the places of the instructions in the window, oldest first, found by looking at all of it: a session that was
-- begun before they had a key of their own gets it with its next write.
local function find_pins(s)
  local found, width = {}, 500
  for from = 0, s.count, width do
    local places = redis.call('ZRANGE', s.keys.window, from, from + width - 1)
    local rows = #places > 0 and redis.call('HMGET', s.keys.rows, unpack(places)) or {}
    for i, row in ipairs(rows) do
      if row and is_instruction(places[i], row) then found[#found + 1] = places[i] end
    end
  end
  return found
end

local function pin(s, places)
  local scored = {}
  for i, place in ipairs(places) do scored[2 * i - 1], scored[2 * i] = place, place end
  if #scored > 0 then in_portions('ZADD', s.keys.pins, scored) end
end

-- The largest sum of tokens that is kept: it stands for all that are larger.
local most_tokens = '9223372036854775807'

-- Adds tokens to the sum of the window. The server does it, in 64 bits: Lua's numbers would round them.
local function add_tokens(s, tokens)
  if tokens == '0' then return end
  if s.tokens == most_tokens then
    -- How much the sum is above it nobody knows, so nothing can be taken away from it.
    s.is_uncounted = s.is_uncounted or string.sub(tokens, 1, 1) == '-'
    return
  end
  local sum = redis.pcall('HINCRBY', s.key, 'tokens', tokens)
  if type(sum) == 'table' then
    if string.find(sum.err, 'overflow', 1, true) then
      redis.call('HSET', s.key, 'tokens', most_tokens)
      s.tokens = most_tokens
      return
    end
    -- The server refuses to write: let the error through as it is.
    sum = redis.call('HINCRBY', s.key, 'tokens', tokens)
  end
  s.tokens = sum < 9007199254740992 and text(sum) or redis.call('HGET', s.key, 'tokens')
end

local function tokens_of(row)
  return string.match(row, '^%d+', 49)
end

-- Adds up the tokens of the window anew, from all that stands in it.
local function recount(s)
  redis.call('HSET', s.key, 'tokens', '0')
  s.tokens = '0'
  local width = 500
  for from = 0, s.count, width do
    local places = redis.call('ZRANGE', s.keys.window, from, from + width - 1)
    local rows = #places > 0 and redis.call('HMGET', s.keys.rows, unpack(places)) or {}
    for _, row in ipairs(rows) do
      if row then add_tokens(s, tokens_of(row)) end
    end
  end
end

local function save_session(s)
  if not s.is_pinned then pin(s, find_pins(s)) end
  if s.is_uncounted then recount(s) end
  redis.call('HSET', s.key, 'gen', s.generation, 'rev', text(s.revision), 'head', text(s.head), 'count', text(s.count),
    'pinned', '1', 'at', s.at, 'rank', text(s.rank), 'held', text(s.held), 'asked', s.asked)
end

-- Lists a session that is to hold its first message, or its first one since it was deleted.
local function begin(s)
  redis.call('ZADD', base .. ':sessions', 0, s.name)
  redis.call('SREM', base .. ':emptied', s.name)
end

local function state_of(s)
  return { epoch, s.generation, text(s.revision), text(s.head), text(s.count), s.tokens, s.asked, s.at }
end

local function is_content(row)
  return row and #row > 16
end

local function number_of(place)
  return tonumber(string.match(place, '^%d+'))
end

local function is_summary(place)
  return string.find(place, ':', 1, true) ~= nil
end

-- Returns where an entry of the id map leads; nil for one of a session that was deleted since, whose ids are free.
local function follow(entry, s)
  if not entry then return nil end
  local generation, place, session = string.match(entry, '^(%S+) (%S+) (%S+)$')
  local now = s and s.name == session and s.generation
  now = now or redis.call('HGET', base .. ':s:' .. session, 'gen') or '0'
  if now ~= generation then return nil end
  return { place = place, session = session, generation = generation, keys = keys_of(session, generation) }
end

local function entry_of(s, place)
  return s.generation .. ' ' .. place .. ' ' .. s.name
end

-- Takes what stands at a place out of the window.
local function leave(s, place, row)
  if redis.call('ZREM', s.keys.window, place) == 0 then return end
  s.count = s.count - 1
  if is_instruction(place, row) then redis.call('ZREM', s.keys.pins, place) end
  local tokens = tokens_of(row)
  if tokens ~= '0' then add_tokens(s, '-' .. tokens) end
end

-- Puts what stands at a place into the window.
local function enter(s, place, row)
  if redis.call('ZADD', s.keys.window, text(number_of(place)), place) == 0 then return end
  s.count = s.count + 1
  if is_instruction(place, row) then pin(s, { place }) end
  add_tokens(s, tokens_of(row))
end

-- Returns a place at a number at which nothing ever stood.
local function fresh_place(s, number)
  s.rank = s.rank + 1
  return string.format('%.0f:%010d', number, s.rank)
end
