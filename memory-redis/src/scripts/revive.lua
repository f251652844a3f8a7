-- Makes an owner's notes that were given up due again: all that are not in the queue. ARGV: the index's token. Answers how many
-- there were.
local notes, queue = note_keys(ARGV[1])
local count, rows = 0, redis.call('HGETALL', notes)
for i = 1, #rows, 2 do
  local target, note = rows[i], read_note(rows[i + 1])
  if note.place and (note.due == 'dead' or not redis.call('ZSCORE', queue, note.place .. ' ' .. target)) then
    note.attempts, note.stamp, count = 0, next_stamp(), count + 1
    queue_at(ARGV[1], target, note, '-inf')
  end
end
return { 'ok', text(count) }
