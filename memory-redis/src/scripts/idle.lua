-- Notes that an owner without notes is no longer listed; from then on a writer lists it anew. Answers whether it is so.
for _, token in ipairs(tokens()) do
  if redis.call('EXISTS', owner .. ':n:' .. token) == 1 then return { 'ok', '0' } end
end
redis.call('HDEL', owner, 'dirty')
redis.call('HINCRBY', owner, 'round', 1)
return { 'ok', '1' }
