-- Deletes an entry. ARGV besides: key. Answers whether there was one that lived.
local entry = redis.call('HGET', entries, ARGV[4])
local was_there = entry and is_live(entry)
remove(ARGV[4])
return { 'ok', was_there and 1 or 0 }
