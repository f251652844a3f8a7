-- Takes away some rows of a deleted session. ARGV: about how many, and the cursor to go on from. Answers whether there may
-- be more, and the next cursor.
-- What is done goes off the list by its name: a server that was killed may carry out the end of this once more, in front of what was
-- done since, and by its place another one would go then.
local dead = redis.call('LINDEX', base .. ':dead', 0)
if not dead then return { 'ok', '0', '0' } end
local generation, session = string.match(dead, '^(%S+) (%S+)$')
if (redis.call('HGET', base .. ':s:' .. session, 'gen') or '0') == generation then
  -- It lives: a server that was killed carried out the beginning of its deletion alone.
  redis.call('LREM', base .. ':dead', 1, dead)
  return { 'ok', '1', '0' }
end
local keys = keys_of(session, generation)
local scanned = redis.call('HSCAN', keys.rows, ARGV[2], 'COUNT', ARGV[1])
local rows = scanned[2]
local places = {}
for i = 1, #rows, 2 do
  local id = string.sub(rows[i + 1], 1, 16)
  -- The id may have been used again since.
  if redis.call('HGET', ids, id) == generation .. ' ' .. rows[i] .. ' ' .. session then redis.call('HDEL', ids, id) end
  places[#places + 1] = rows[i]
end
if #places > 0 then in_portions('HDEL', keys.rows, places) end
if redis.call('EXISTS', keys.rows) == 0 then
  redis.call('UNLINK', keys.marks, keys.window, keys.summaries, keys.originals, keys.pins)
  if tonumber(redis.call('HGET', base .. ':s:' .. session, 'head') or 0) == 0 then
    -- Of an append that was begun there may be rows, which an erasure has to find.
    redis.call('SADD', base .. ':emptied', session)
    redis.call('ZREM', base .. ':sessions', session)
  end
  redis.call('LREM', base .. ':dead', 1, dead)
end
return { 'ok', '1', scanned[1] }
