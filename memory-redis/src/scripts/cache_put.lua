if is_late then return { 'ok' } end
redis.call('SET', key, ARGV[4] .. ARGV[5], 'PX', ARGV[3])
index()
return { 'ok' }
