-- Begins the erasure of an owner. ARGV: two for `prepare`. Answers the new epoch.
local unprepared = prepare()
if unprepared then return unprepared end
local head, last, nines = string.match(epoch, '^(%d-)([0-8])(9*)$')
redis.call('RPUSH', owner .. ':buried', epoch)
epoch = head .. text(tonumber(last) + 1) .. string.rep('0', #nines)
redis.call('HSET', owner, 'epoch', epoch)
for token in string.gmatch(indexes, '=(%S+)') do
  redis.call('UNLINK', note_keys(token))
end
mark('o', 'replaced', 0, 0)
return { 'ok', epoch }
