-- Lets a script that forgets, makes room or counts a use write while the server's memory is full. Such a server refuses a command that may take
-- memory only if it is the first one of its script that writes; this one takes none, and changes nothing. `remove` is the command
-- that takes the member '' from `key`, which none has: ZREM or HDEL.
local function write_when_full(remove, key)
  redis.call(remove, key, '')
end
