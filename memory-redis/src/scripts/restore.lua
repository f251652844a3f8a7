-- Stores rows as they are. ARGV: two for `prepare`, session, epoch and generation of the fence or `-`, then for each row
-- `number first last ` (`-` where it covers nothing) with its archive mark behind it, and the row, or the id alone of what
-- has no content.
-- Everything is checked before anything is stored.
local s = load_session(ARGV[3])
if ARGV[4] ~= '-' and (ARGV[4] ~= epoch or ARGV[5] ~= s.generation) then
  return { 'fenced' }
end
local count = (#ARGV - 5) / 2
if count == 0 then return { 'ok', state_of(s), {} } end

local wanted = {}
for i = 1, count do wanted[i] = string.sub(ARGV[5 + 2 * i], 1, 16) end
local found = in_portions('HMGET', ids, wanted)
local placed, messages, summaries, planned = {}, {}, {}, {}

local function digest_of(row)
  return string.sub(row, 17, 48)
end

local function plan_message(row, there)
  local nextone = s.head + #messages + 1
  if row.number < 1 or row.number > nextone then return 'conflict' end
  if row.number == nextone then
    if there or planned[row.id] then return 'taken' end
    messages[#messages + 1], planned[row.id] = row, row
    placed[#placed + 1] = '+' .. text(row.number)
    return
  end
  local stored = row.number <= s.head and redis.call('HGET', s.keys.rows, text(row.number))
  stored = stored or messages[row.number - s.head].body
  if string.sub(stored, 1, 16) ~= row.id then return 'conflict' end
  if is_content(row.body) and not is_content(stored) then
    placed[#placed + 1] = 'f'
  elseif is_content(row.body) and digest_of(stored) ~= digest_of(row.body) then
    return 'taken'
  else
    placed[#placed + 1] = '=' .. text(row.number)
  end
end

local function plan_summary(row, there)
  if row.last ~= row.number or row.first > row.last then return 'invalid' end
  if row.number > s.head + #messages then return 'conflict' end
  local stored, is_sound
  if there then
    stored = there.row
    if not is_content(stored) then return end
    is_sound = there.session == s.name and is_summary(there.place)
  elseif planned[row.id] then
    stored, is_sound = planned[row.id].body, planned[row.id].last
  else
    summaries[#summaries + 1], planned[row.id] = row, row
    return
  end
  if not is_sound or (is_content(row.body) and digest_of(row.body) ~= digest_of(stored)) then return 'taken' end
  if there and is_content(row.body) and not redis.call('ZSCORE', s.keys.summaries, there.place) then
    -- A server that was killed kept its beginning: it is stored anew, where it stands.
    row.place = number_of(there.place) == row.number and there.place
    summaries[#summaries + 1] = row
  end
end

for i = 1, count do
  local head, body = ARGV[4 + 2 * i], ARGV[5 + 2 * i]
  local number, first, last, behind = string.match(head, '^(%d+) (%S+) (%S+) ()')
  local mark = string.sub(head, behind)
  local row = { id = wanted[i], number = tonumber(number), body = body, mark = mark ~= '' and mark,
    first = tonumber(first), last = tonumber(last) }
  local there = follow(row.id, found[i], s)
  local refusal
  if row.last then refusal = plan_summary(row, there) else refusal = plan_message(row, there) end
  if refusal then return { refusal, row.id } end
end
local unprepared = prepare()
if unprepared then return unprepared end

local from = s.head + 1
local stood_for = {}

-- Returns whether something with this id was stored and forgotten since: then it stands for nothing any more.
local function is_forgotten(id)
  local entry = redis.call('HGET', ids, id)
  local there = follow(id, entry, s)
  return there and not is_content(there.row)
end

local function store(row, place)
  redis.call('HSET', ids, row.id, entry_of(s, place))
  redis.call('HSET', s.keys.rows, place, row.body)
  if row.mark then
    redis.call('HSET', s.keys.marks, place, row.mark)
    stood_for[row.mark] = stood_for[row.mark] or {}
    table.insert(stood_for[row.mark], place)
  elseif is_content(row.body) then
    enter(s, place, row.body)
  end
end

for _, list in ipairs({ messages, summaries }) do
  for _, row in ipairs(list) do
    if row.mark and is_forgotten(row.mark) then row.mark = false end
  end
end
if #messages > 0 then
  begin(s)
  cut(s)
end
for _, row in ipairs(messages) do
  store(row, text(row.number))
  s.head = row.number
  if is_content(row.body) then
    s.held = s.held + 1
    local at = string.match(row.body, '^%d+ (%d+)', 49)
    if at > s.at then s.at = at end
  end
end
for _, row in ipairs(summaries) do
  local place = row.place or fresh_place(s, row.number)
  -- A summary without content is but an id that stays taken.
  if not is_content(row.body) then row.mark = false end
  store(row, place)
  if is_content(row.body) then redis.call('ZADD', s.keys.summaries, text(row.number), place) end
end
for summary, places in pairs(stood_for) do
  local before = redis.call('HGET', s.keys.originals, summary)
  redis.call('HSET', s.keys.originals, summary, (before and before .. ' ' or '') .. table.concat(places, ' '))
end
if from <= s.head then mark('s' .. s.name, 'appended', from, s.head) end
save_session(s)
return { 'ok', state_of(s), placed }
