-- Deletes an entry. ARGV besides: key. Answers whether there was one that lived.
local was_there = redis.call('HEXISTS', entries, ARGV[4]) == 1 and is_live(ARGV[4])
remove(ARGV[4])
return { 'ok', was_there and 1 or 0 }
