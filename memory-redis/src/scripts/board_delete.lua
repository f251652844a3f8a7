-- Deletes an entry. ARGV besides: key. Answers whether there was one that lived.
local was_there = redis.call('HEXISTS', entries, ARGV[2]) == 1 and is_live(ARGV[2])
remove(ARGV[2])
return { 'ok', was_there and 1 or 0 }
