-- What folding, unfolding and forgetting have in common.

-- Returns the places that a summary stands for.
local function covered_by(s, summary)
  local covered = {}
  for place in string.gmatch(redis.call('HGET', s.keys.originals, summary) or '', '%S+') do
    -- What was marked anew since stands for another summary.
    if redis.call('HGET', s.keys.marks, place) == summary then covered[#covered + 1] = place end
  end
  return covered
end

-- Puts places into the window again.
local function enter_all(s, places)
  for _, place in ipairs(places) do
    local row = redis.call('HGET', s.keys.rows, place)
    if is_content(row) then enter(s, place, row) end
  end
end

-- Lets places stand for no summary any more. By their marks a repetition finds them, and a forgetting what has their words: they go
-- last, behind the summary.
local function unmark(s, places, summary)
  if #places > 0 then in_portions('HDEL', s.keys.marks, places) end
  redis.call('HDEL', s.keys.originals, summary)
end

-- Brings back what a summary stood for that is forgotten.
local function bring_back(s, summary)
  local covered = covered_by(s, summary)
  enter_all(s, covered)
  unmark(s, covered, summary)
end

-- Takes a summary away from where it stands.
local function remove_summary(s, place, row)
  if is_content(row) then leave(s, place, row) end
  redis.call('ZREM', s.keys.summaries, place)
  redis.call('HDEL', s.keys.marks, place)
end
