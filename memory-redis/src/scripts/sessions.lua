-- Lists sessions that hold messages. ARGV: where to begin, as ZRANGEBYLEX takes it, and how many.
local answers = {}
for i, name in ipairs(redis.call('ZRANGEBYLEX', base .. ':sessions', ARGV[1], '+', 'LIMIT', 0, ARGV[2])) do
  answers[i] = { name, state_of(load_session(name)) }
end
return { 'ok', answers }
