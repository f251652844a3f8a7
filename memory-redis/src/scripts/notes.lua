-- Notes of what indexes have not seen. For each index a hash from target to
-- `epoch from upto stamp attempts gone due place`, and a queue of `place target` by due time; the dead have no entry there.
local function note_keys(token)
  return owner .. ':n:' .. token, owner .. ':q:' .. token
end

local function read_note(row)
  local e, from, upto, stamp, attempts, gone, due, place =
    string.match(row, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  return { epoch = e, from = tonumber(from), upto = tonumber(upto), stamp = stamp, attempts = tonumber(attempts),
    gone = gone, due = due, place = place }
end

local function write_note(token, target, note)
  redis.call('HSET', owner .. ':n:' .. token, target, table.concat({ note.epoch, text(note.from), text(note.upto),
    note.stamp, text(note.attempts), note.gone, note.due, note.place }, ' '))
end

-- Returns a number that this owner never had.
local function next_stamp()
  return text(redis.call('HINCRBY', owner, 'stamp', 1))
end

-- Writes a note and puts it into the queue, behind all that are due alike: at a time, or with `-inf` at once. The old entry goes
-- last: a server that is killed may carry out the first of this alone, and an entry too many is found.
local function queue_at(token, target, note, due)
  local queue = owner .. ':q:' .. token
  local old = note.place and note.place .. ' ' .. target
  local now = redis.call('TIME')
  note.due, note.place = due, string.format('%012d%06d%012d', now[1], now[2], next_stamp())
  if due ~= 'dead' then
    redis.call('ZADD', queue, due, note.place .. ' ' .. target)
  end
  write_note(token, target, note)
  if old then redis.call('ZREM', queue, old) end
end

-- Notes for one index that messages were `appended`, or `changed` behind the end, or that the target was `replaced`.
local function mark_for(token, target, kind, from, upto, gone)
  local row = redis.call('HGET', owner .. ':n:' .. token, target)
  if not row then
    local note = { epoch = epoch, from = from, upto = upto, stamp = next_stamp(), attempts = 0, gone = gone }
    return queue_at(token, target, note, '-inf')
  end
  local note = read_note(row)
  note.epoch = epoch
  if kind == 'replaced' then
    note.from, note.upto, note.gone = from, upto, gone
  else
    note.from, note.upto = math.min(note.from, from), math.max(note.upto, upto)
  end
  if kind ~= 'appended' then
    note.stamp = next_stamp()
  end
  -- What failed is there no longer, so the wait after the failure is pointless. An append leaves it in its place in the queue. What
  -- was given up has no entry there, nor perhaps what a server that was killed has changed.
  if kind ~= 'appended' or not redis.call('ZSCORE', owner .. ':q:' .. token, note.place .. ' ' .. target) then
    note.attempts = 0
    return queue_at(token, target, note, '-inf')
  end
  write_note(token, target, note)
end

-- The same for all indexes, or for those whose names do not begin with `spared`.
local function mark(target, kind, from, upto, gone, spared)
  for _, token in ipairs(tokens(spared)) do
    mark_for(token, target, kind, from, upto, gone or '0')
  end
end
