-- Returns notes that are due. ARGV: the index's token, the time, the latest time at which a note can be due, how many.
-- Answers queue entries (`place target`), their notes, and whether the owner has any note for any index.
local notes, queue = note_keys(ARGV[1])
local entries = redis.call('ZRANGEBYSCORE', queue, '-inf', ARGV[2], 'LIMIT', 0, ARGV[4])
local misdated = redis.call('ZRANGEBYSCORE', queue, '(' .. ARGV[3], '+inf', 'LIMIT', 0, tonumber(ARGV[4]) - #entries)
for _, entry in ipairs(misdated) do entries[#entries + 1] = entry end
local found, rows = {}, {}
for _, entry in ipairs(entries) do
  local place, target = string.match(entry, '^(%S+) (.*)$')
  local row = redis.call('HGET', notes, target)
  local note = row and read_note(row)
  -- One that cannot be read names no place.
  if note and (note.place or place) == place then
    found[#found + 1], rows[#rows + 1] = entry, row
  else
    -- A server that was killed may have kept the entry alone of a note that it was writing. If it kept the note too, an append that
    -- was acknowledged since has written the note as it was before: by its place there, it goes into the queue again.
    local own = note and note.due ~= 'dead' and note.place .. ' ' .. target
    write_when_full('HDEL', owner)
    if own and redis.call('ZADD', queue, note.due, own) == 1 and note.due == '-inf' then
      found[#found + 1], rows[#rows + 1] = own, row
    end
    redis.call('ZREM', queue, entry)
  end
end
local has_any = '0'
for _, token in ipairs(tokens()) do
  if redis.call('EXISTS', owner .. ':n:' .. token) == 1 then has_any = '1' end
end
return { 'ok', found, rows, has_any }
