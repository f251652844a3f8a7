-- Opens every script on an owner's truth. KEYS[1] is the owner's hash; all other keys begin with its name, so that they
-- lie in its slot. Writing scripts get two arguments first, for `prepare`.
local owner = KEYS[1]
local kept = redis.call('HMGET', owner, 'epoch', 'indexes', 'round', 'dirty')
-- Epochs have 20 digits, so that texts compare as numbers do.
local epoch = kept[1] or '00000000000000000000'
-- The indexes that follow this owner, each as `name=token`; false as long as nothing was written.
local indexes = kept[2]
-- Rises whenever the owner leaves the list of those with notes, which a writer has to put it on again.
local round = kept[3] or '0'
local is_listed = kept[4]
-- What an earlier epoch stored has other keys: a burial puts all of it out of reach.
local base = owner .. ':' .. epoch

-- Allows writing, or returns the answer that asks for the lists outside of this slot to be seen to first:
-- ARGV[1] are the indexes of the place for an owner that is new, ARGV[2] the round in which it was listed; `-` is none.
local function prepare()
  local followed = indexes or ARGV[1]
  -- An owner that is new looks again also where it found no index: one may have been enlisted since.
  if followed == '-' or ((followed ~= '' or not indexes) and not is_listed and ARGV[2] ~= round) then
    return { 'prepare', round }
  end
  if not indexes then
    indexes = followed
    redis.call('HSET', owner, 'epoch', epoch, 'indexes', indexes)
  end
  if followed ~= '' and not is_listed then
    redis.call('HSET', owner, 'dirty', '1')
  end
end

-- The tokens of the indexes, or of those whose names do not begin with `spared`. A name may hold `=`, a token does not.
local function tokens(spared)
  local found = {}
  for entry in string.gmatch(indexes or '', '%S+') do
    if not spared or string.sub(entry, 1, #spared) ~= spared then
      found[#found + 1] = string.match(entry, '=([^=]+)$')
    end
  end
  return found
end

-- Whole numbers as texts: Lua itself would write 1e+15.
local function text(number)
  return string.format('%.0f', number)
end
