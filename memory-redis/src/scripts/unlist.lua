-- Takes an owner off the list of those with notes, unless it was put there again. KEYS[1] is the list, ARGV the owner's
-- key and the score that was seen.
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '-1') == tonumber(ARGV[2]) then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return { 'ok' }
