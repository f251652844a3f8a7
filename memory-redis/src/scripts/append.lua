-- Appends messages. ARGV: two for `prepare`, session, epoch and generation of the fence or `-`, the sum of the tokens
-- up to the largest that is kept, the latest time, the largest budget asked for, then a row for each message, each id once.
local first_row = 9
local s = load_session(ARGV[3])
if ARGV[4] ~= '-' and (ARGV[4] ~= epoch or ARGV[5] ~= s.generation) then
  return { 'fenced' }
end
local count = #ARGV - first_row + 1
if count == 0 then
  return { 'ok', state_of(s) }
end

local wanted = {}
for i = 1, count do wanted[i] = string.sub(ARGV[first_row + i - 1], 1, 16) end
local found = in_portions('HMGET', ids, wanted)
local fresh, placed = {}, {}
for i = 1, count do
  local row = ARGV[first_row + i - 1]
  local there = follow(wanted[i], found[i], s)
  if not there then
    fresh[#fresh + 1] = row
    placed[i] = '+'
  elseif not is_content(there.row) then
    placed[i] = 'f'
  elseif there.session == s.name and string.sub(there.row, 17, 48) == string.sub(row, 17, 48) then
    placed[i] = '=' .. text(number_of(there.place))
  else
    return { 'taken', wanted[i] }
  end
end
if #fresh == 0 then
  return { 'ok', state_of(s), placed }
end
local unprepared = prepare()
if unprepared then return unprepared end

-- Before the sum of the tokens, of which a large one is written at once.
begin(s)
local is_whole = #fresh == count
if is_whole then
  add_tokens(s, ARGV[6])
  if ARGV[7] > s.at then s.at = ARGV[7] end
else
  for _, row in ipairs(fresh) do
    local tokens, at = string.match(row, '^(%d+) (%d+)', 49)
    add_tokens(s, tokens)
    if at > s.at then s.at = at end
  end
end
if tonumber(ARGV[8]) > tonumber(s.asked) then s.asked = ARGV[8] end
cut(s)
local rows, window, map, pins = {}, {}, {}, {}
for i, row in ipairs(fresh) do
  local place = text(s.head + i)
  rows[2 * i - 1], rows[2 * i] = place, row
  window[2 * i - 1], window[2 * i] = place, place
  map[2 * i - 1], map[2 * i] = string.sub(row, 1, 16), entry_of(s, place)
  if is_instruction(place, row) then pins[#pins + 1] = place end
end
in_portions('HSET', s.keys.rows, rows)
in_portions('ZADD', s.keys.window, window)
in_portions('HSET', ids, map)
pin(s, pins)
local from = s.head + 1
s.head, s.count, s.held = s.head + #fresh, s.count + #fresh, s.held + #fresh
mark('s' .. s.name, 'appended', from, s.head)
save_session(s)
return { 'ok', state_of(s), is_whole and {} or placed }
