-- Takes away some of what earlier epochs stored, after it has raised the epoch to a bound. ARGV: two for `prepare`, the
-- bound, how many sessions. Answers how many items went, and how many epochs have something left.
-- What is done goes off its list by its name, as in `clear`.
if epoch < ARGV[3] then
  write_when_full('HDEL', owner)
  local unprepared = prepare()
  if unprepared then return unprepared end
  redis.call('RPUSH', owner .. ':buried', epoch)
  epoch = ARGV[3]
  redis.call('HSET', owner, 'epoch', epoch)
  for _, token in ipairs(tokens()) do
    local notes, queue = note_keys(token)
    local burial = redis.call('HGET', notes, 'o')
    redis.call('UNLINK', notes, queue)
    if burial then
      local note = read_note(burial)
      if note.due ~= 'dead' then redis.call('ZADD', queue, note.due, note.place .. ' o') end
      redis.call('HSET', notes, 'o', burial)
    end
  end
end
local buried = redis.call('LINDEX', owner .. ':buried', 0)
if not buried then return { 'ok', '0', '0' } end
if buried >= epoch then
  -- It lives: a server that was killed carried out the beginning of its burial alone.
  redis.call('LREM', owner .. ':buried', 1, buried)
  return { 'ok', '0', text(redis.call('LLEN', owner .. ':buried')) }
end

base = owner .. ':' .. buried
local removed = redis.call('HLEN', base .. ':ids')
redis.call('UNLINK', base .. ':ids')
local some = tonumber(ARGV[4])

local function unlink(session, generation)
  local keys = keys_of(session, generation)
  redis.call('UNLINK', keys.rows, keys.marks, keys.window, keys.summaries, keys.originals, keys.pins)
end

-- Drops a session with its present generation; those in `dead` are of earlier ones.
local function drop(name)
  local key = base .. ':s:' .. name
  unlink(name, redis.call('HGET', key, 'gen') or '0')
  redis.call('UNLINK', key)
end

local names = redis.call('ZRANGE', base .. ':sessions', 0, some - 1)
for _, name in ipairs(names) do
  drop(name)
  redis.call('ZREM', base .. ':sessions', name)
end
-- One that was emptied holds nothing, unless a server that was killed carried out the beginning of its deletion alone.
if #names < some then
  for _, name in ipairs(redis.call('SRANDMEMBER', base .. ':emptied', some)) do
    drop(name)
    redis.call('SREM', base .. ':emptied', name)
  end
end
for _, dead in ipairs(redis.call('LRANGE', base .. ':dead', 0, some - 1)) do
  local generation, session = string.match(dead, '^(%S+) (%S+)$')
  unlink(session, generation)
  redis.call('LREM', base .. ':dead', 1, dead)
end
if redis.call('EXISTS', base .. ':sessions', base .. ':emptied', base .. ':dead') == 0 then
  redis.call('LREM', owner .. ':buried', 1, buried)
end
return { 'ok', text(removed), text(redis.call('LLEN', owner .. ':buried')) }
