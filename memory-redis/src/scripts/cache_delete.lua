-- Deletes entries. KEYS[1] opens all keys of the owner's cache. ARGV: epoch, then keys.
local base = KEYS[1]
for i = 2, #ARGV do
  local entry = ARGV[1] .. ':' .. ARGV[i]
  redis.call('UNLINK', base .. ':' .. entry)
  redis.call('ZREM', base .. ':index', entry)
end
return { 'ok' }
