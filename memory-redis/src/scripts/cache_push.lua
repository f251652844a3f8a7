-- Adds a value to a list, whose first element is when it expires. ARGV besides: the present by the clock of the store, and
-- how many values to keep.
if is_late then return { 'ok' } end
local is_list = redis.call('TYPE', key)['ok'] == 'list'
if is_list and redis.call('LINDEX', key, 0) > ARGV[6] then
  redis.call('LPOP', key)
else
  redis.call('DEL', key)
end
redis.call('RPUSH', key, ARGV[5])
redis.call('LTRIM', key, '-' .. ARGV[7], -1)
redis.call('LPUSH', key, ARGV[4])
redis.call('PEXPIRE', key, ARGV[3])
index()
return { 'ok' }
