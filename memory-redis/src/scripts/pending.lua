-- Returns notes that are due. ARGV: the index's token, the time, the latest time at which a note can be due, how many.
-- Answers queue entries (`place target`), their notes, and whether the owner has any note for any index.
local notes, queue = note_keys(ARGV[1])
local entries = redis.call('ZRANGEBYSCORE', queue, '-inf', ARGV[2], 'LIMIT', 0, ARGV[4])
local misdated = redis.call('ZRANGEBYSCORE', queue, '(' .. ARGV[3], '+inf', 'LIMIT', 0, tonumber(ARGV[4]) - #entries)
for _, entry in ipairs(misdated) do entries[#entries + 1] = entry end
local rows = {}
for i, entry in ipairs(entries) do
  rows[i] = redis.call('HGET', notes, string.match(entry, '^%S+ (.*)$'))
end
local has_any = '0'
for _, token in ipairs(tokens()) do
  if redis.call('EXISTS', owner .. ':n:' .. token) == 1 then has_any = '1' end
end
return { 'ok', entries, rows, has_any }
