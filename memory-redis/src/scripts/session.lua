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

local function is_content(row)
  return row and #row > 16
end

local function number_of(place)
  return tonumber(string.match(place, '^%d+'))
end

local function is_summary(place)
  return string.find(place, ':', 1, true) ~= nil
end

-- Returns whether a row is an instruction: its body opens with version, id and role.
local function is_instruction(place, row)
  local role = string.match(row, '^[^{]*{"v":%d+,"id":"[^"]*","role":"(%a+)"', 49)
  return (role == 'system' or role == 'developer') and not is_summary(place)
end

-- Shows all places of the window with their rows, oldest first, up to the session's end.
local function each_row(s, see)
  local width = 500
  for from = 0, s.count, width do
    local places = redis.call('ZRANGE', s.keys.window, from, from + width - 1)
    local rows = #places > 0 and redis.call('HMGET', s.keys.rows, unpack(places)) or {}
    for i, row in ipairs(rows) do
      if row and number_of(places[i]) <= s.head then see(places[i], row) end
    end
  end
end

-- Returns the places of the instructions in the window, oldest first, found by looking at all of it: a session that was
-- begun before they had a key of their own gets it with its next write.
local function find_pins(s)
  local found = {}
  each_row(s, function(place, row)
    if is_instruction(place, row) then found[#found + 1] = place end
  end)
  return found
end

local function pin(s, places)
  local scored = {}
  for i, place in ipairs(places) do scored[2 * i - 1], scored[2 * i] = place, place end
  if #scored > 0 then in_portions('ZADD', s.keys.pins, scored) end
end

-- The largest sum of tokens that is kept: it stands for all that are larger.
local most_tokens = '9223372036854775807'

-- Below it Lua's numbers are exact.
local exact = 9007199254740992

-- Adds tokens to the sum of the window, which `save_session` writes. Larger sums the server adds, in 64 bits.
local function add_tokens(s, tokens)
  if tokens == '0' then return end
  if s.tokens == most_tokens then
    -- How much the sum is above it nobody knows, so nothing can be taken away from it.
    s.is_uncounted = s.is_uncounted or string.sub(tokens, 1, 1) == '-'
    return
  end
  local before, added = tonumber(s.tokens), tonumber(tokens)
  if before < exact and math.abs(added) < exact and before + added < exact then
    s.tokens = text(before + added)
    return
  end
  redis.call('HSET', s.key, 'tokens', s.tokens)
  local sum = redis.pcall('HINCRBY', s.key, 'tokens', tokens)
  if type(sum) == 'table' then
    if string.find(sum.err, 'overflow', 1, true) then
      s.tokens = most_tokens
      return
    end
    -- The server refuses to write: let the error through as it is.
    sum = redis.call('HINCRBY', s.key, 'tokens', tokens)
  end
  s.tokens = sum < exact and text(sum) or redis.call('HGET', s.key, 'tokens')
end

local function tokens_of(row)
  return string.match(row, '^%d+', 49) or '0'
end

-- Adds up the tokens of the window anew, from all that stands in it.
local function recount(s)
  s.tokens = '0'
  each_row(s, function(_, row) add_tokens(s, tokens_of(row)) end)
end

-- Takes away what stands behind the end of a session: rows begin there without a gap, and go last.
local function cut(s)
  local places, number = {}, s.head + 1
  while redis.call('HEXISTS', s.keys.rows, text(number)) == 1 do
    places[#places + 1] = text(number)
    number = number + 1
  end
  if #places == 0 then return end
  local behind = '(' .. text(s.head)
  for _, key in ipairs({ s.keys.pins, s.keys.summaries, s.keys.window }) do
    for _, place in ipairs(redis.call('ZRANGEBYSCORE', key, behind, '+inf')) do places[#places + 1] = place end
    redis.call('ZREMRANGEBYSCORE', key, behind, '+inf')
  end
  in_portions('HDEL', s.keys.marks, places)
  in_portions('HDEL', s.keys.rows, places)
end

-- Writes the counters of a session, in one command and behind all else: what stands behind its end is not there yet.
local function save_session(s)
  if redis.call('ZCARD', s.keys.window) ~= s.count or string.sub(s.tokens, 1, 1) == '-' then
    -- A server that was killed has carried out a change of the window alone, so all of it is counted anew.
    cut(s)
    redis.call('DEL', s.keys.pins)
    s.count, s.is_pinned, s.is_uncounted = redis.call('ZCARD', s.keys.window), false, true
  end
  if not s.is_pinned then pin(s, find_pins(s)) end
  if s.is_uncounted then recount(s) end
  redis.call('HSET', s.key, 'gen', s.generation, 'rev', text(s.revision), 'head', text(s.head), 'count', text(s.count),
    'tokens', s.tokens, 'pinned', '1', 'at', s.at, 'rank', text(s.rank), 'held', text(s.held), 'asked', s.asked)
end

-- Lists a session that is to hold its first message, before there is anything of it, so that an erasure finds all of it. What is listed
-- goes off and on again, for `clear` may have taken it off by the time that a server which was killed repeats this; an erasure finds
-- it among those that were emptied then.
local function begin(s)
  if s.head > 0 then return end
  local sessions, emptied = base .. ':sessions', base .. ':emptied'
  if redis.call('ZADD', sessions, 0, s.name) == 0 then
    redis.call('SADD', emptied, s.name)
    redis.call('ZREM', sessions, s.name)
    redis.call('ZADD', sessions, 0, s.name)
  end
  redis.call('SREM', emptied, s.name)
end

local function state_of(s)
  return { epoch, s.generation, text(s.revision), text(s.head), text(s.count), s.tokens, s.asked, s.at }
end

-- Returns where the entry of an id in the map leads, with the row there; nil for one of a session that was deleted since, whose
-- ids are free, and for one that is not there. A server that was killed while it wrote a script's effects to its file may
-- carry out the first of them when it starts the next time, although the script was begun anew since.
local function follow(id, entry, s)
  if not entry then return nil end
  local generation, place, session = string.match(entry, '^(%S+) (%S+) (%S+)$')
  local now, head = s and s.generation, s and s.head
  if not s or s.name ~= session then
    local kept = redis.call('HMGET', base .. ':s:' .. session, 'gen', 'head')
    now, head = kept[1] or '0', tonumber(kept[2] or 0)
  end
  if now ~= generation or number_of(place) > head then return nil end
  local keys = keys_of(session, generation)
  local row = redis.call('HGET', keys.rows, place)
  if not row or string.sub(row, 1, 16) ~= id then return nil end
  return { place = place, session = session, generation = generation, keys = keys, row = row }
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

-- Returns a place at a number for a summary: one at which none ever stood, or one with the row alone that a server kept of a script
-- when it was killed. Its words are overwritten there, for no id leads to it by which they could be forgotten.
local function fresh_place(s, number)
  local place, row
  repeat
    s.rank = s.rank + 1
    place = string.format('%.0f:%010d', number, s.rank)
    row = redis.call('HGET', s.keys.rows, place)
  until not row or redis.call('HGET', ids, string.sub(row, 1, 16)) ~= entry_of(s, place)
  if row then redis.call('HDEL', s.keys.marks, place) end
  return place
end
