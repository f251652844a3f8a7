-- What folding, unfolding and forgetting have in common.

-- Puts what a summary stands for into the window again.
local function bring_back(s, summary)
  local places = redis.call('HGET', s.keys.originals, summary)
  if not places then return end
  redis.call('HDEL', s.keys.originals, summary)
  for place in string.gmatch(places, '%S+') do
    -- What was marked anew since stands for another summary.
    if redis.call('HGET', s.keys.marks, place) == summary then
      redis.call('HDEL', s.keys.marks, place)
      local row = redis.call('HGET', s.keys.rows, place)
      if is_content(row) then enter(s, place, row) end
    end
  end
end

-- Takes a summary away from where it stands.
local function remove_summary(s, place, row)
  if is_content(row) then leave(s, place, row) end
  redis.call('ZREM', s.keys.summaries, place)
  redis.call('HDEL', s.keys.marks, place)
end
