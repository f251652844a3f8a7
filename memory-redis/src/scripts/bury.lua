-- Begins the erasure of an owner, unless that was done since its epoch was seen. ARGV: two for `prepare`, the epoch that was
-- seen. Answers the epoch.
if epoch > ARGV[3] then return { 'ok', epoch } end
write_when_full('HDEL', owner)
local unprepared = prepare()
if unprepared then return unprepared end
local head, last, nines = string.match(ARGV[3], '^(%d-)([0-8])(9*)$')
redis.call('RPUSH', owner .. ':buried', epoch)
epoch = head .. text(tonumber(last) + 1) .. string.rep('0', #nines)
redis.call('HSET', owner, 'epoch', epoch)
for _, token in ipairs(tokens()) do
  redis.call('UNLINK', note_keys(token))
end
mark('o', 'replaced', 0, 0)
return { 'ok', epoch }
