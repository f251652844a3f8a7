-- Counts notes. ARGV: the index's token. Answers how many are in the queue, and how many there are.
local notes, queue = note_keys(ARGV[1])
return { 'ok', text(redis.call('ZCARD', queue)), text(redis.call('HLEN', notes)) }
