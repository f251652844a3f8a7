-- Forgets messages and summaries. ARGV: two for `prepare`, then ids. Answers for each that was touched its id, session,
-- place, and the summaries that fell with it.
local wanted, standing = {}, {}
for i = 3, #ARGV do wanted[i - 2] = ARGV[i] end
for i, entry in ipairs(in_portions('HMGET', ids, wanted)) do
  local there = entry and follow(entry)
  if there and is_content(redis.call('HGET', there.keys.rows, there.place)) then
    standing[#standing + 1] = { id = wanted[i], there = there }
  end
end
if #standing == 0 then return { 'ok', {} } end
local unprepared = prepare()
if unprepared then return unprepared end

local touched, sessions = {}, {}

-- Forgets a summary that covered something; returns the one above it.
local function dissolve(s, summary, number)
  local entry = redis.call('HGET', ids, summary)
  local there = entry and follow(entry, s)
  local above
  if not there then
    -- One that a restore has not brought yet must not come any more, so its id is taken.
    local place = fresh_place(s, number)
    redis.call('HSET', s.keys.rows, place, summary)
    redis.call('HSET', ids, summary, entry_of(s, place))
  elseif there.session == s.name then
    local row = redis.call('HGET', s.keys.rows, there.place)
    above = is_content(row) and redis.call('HGET', s.keys.marks, there.place)
    -- A restored mark may name a message, which stands for nothing.
    if is_summary(there.place) then
      remove_summary(s, there.place, row)
      redis.call('HSET', s.keys.rows, there.place, summary)
    end
  end
  bring_back(s, summary)
  return above
end

local function forget(s, id, place)
  local fallen, seen = {}, {}
  local summary = redis.call('HGET', s.keys.marks, place)
  -- Restored marks may point in a circle.
  while summary and not seen[summary] do
    seen[summary] = true
    fallen[#fallen + 1] = summary
    summary = dissolve(s, summary, number_of(place))
  end
  local row = redis.call('HGET', s.keys.rows, place)
  if is_summary(place) then
    remove_summary(s, place, row)
    bring_back(s, id)
  else
    if is_content(row) then leave(s, place, row) end
    s.held = s.held - 1
  end
  redis.call('HSET', s.keys.rows, place, id)
  s.revision = s.revision + 1
  return fallen
end

for _, one in ipairs(standing) do
  local there = one.there
  local s = sessions[there.session] or load_session(there.session)
  sessions[there.session] = s
  -- It may have fallen with another of the list.
  if is_content(redis.call('HGET', s.keys.rows, there.place)) then
    local fallen = forget(s, one.id, there.place)
    touched[#touched + 1] = { one.id, s.name, there.place, fallen }
    if not is_summary(there.place) then
      local number = number_of(there.place)
      s.from, s.upto = math.min(s.from or number, number), math.max(s.upto or number, number)
    end
  end
end
for _, s in pairs(sessions) do
  save_session(s)
  -- Neighbours are searched by the words of what was forgotten too.
  if s.from then
    mark('s' .. s.name, 'changed', math.max(s.from - 1, 1), math.min(s.upto + 1, s.head))
  end
end
return { 'ok', touched }
