-- Takes in what became of notes, as far as nothing happened to their targets since they were read. ARGV: the index's
-- token, then for each note its target, stamp, upto, attempts, the outcome, and `through` or the time of the next try.
local token = ARGV[1]
local notes, queue = note_keys(token)
-- What was forgotten is settled too.
write_when_full('HDEL', owner)
for i = 2, #ARGV, 6 do
  local target, stamp, upto, attempts = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local outcome, argument = ARGV[i + 4], ARGV[i + 5]
  local row = redis.call('HGET', notes, target)
  local note = row and read_note(row)
  if note and note.stamp == stamp then
    -- Computed from the note that was read: a settlement that is repeated counts once.
    local tried = math.max(note.attempts, attempts + 1)
    if outcome == 'done' then
      local through = math.min(tonumber(argument), upto)
      note.attempts, note.gone = 0, '0'
      if through >= note.upto or note.from > note.upto then
        redis.call('HDEL', notes, target)
        redis.call('ZREM', queue, note.place .. ' ' .. target)
      else
        note.from = math.max(note.from, through + 1)
        queue_at(token, target, note, '-inf')
      end
    elseif outcome == 'dead' then
      note.attempts = tried
      -- Messages appended since have not been tried: then it goes on.
      if note.upto == upto then queue_at(token, target, note, 'dead') else write_note(token, target, note) end
    elseif note.due ~= 'dead' then
      note.attempts = tried
      queue_at(token, target, note, argument)
    end
  end
end
return { 'ok' }
