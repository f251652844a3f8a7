-- Makes an owner's notes that were given up due again. ARGV: the index's token. Answers how many there were.
local notes, queue = note_keys(ARGV[1])
local count = redis.call('HLEN', notes) - redis.call('ZCARD', queue)
if count == 0 then return { 'ok', '0' } end
local rows = redis.call('HGETALL', notes)
for i = 1, #rows, 2 do
  local target, note = rows[i], read_note(rows[i + 1])
  if note.due == 'dead' then
    note.attempts, note.stamp = 0, next_stamp()
    queue_at(ARGV[1], target, note, '-inf')
    write_note(ARGV[1], target, note)
  end
end
return { 'ok', text(count) }
