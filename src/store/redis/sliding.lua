-- The sliding window: its state is when each hit leaves it, the earliest first. Continues values.lua.
--
-- numbers  cost (4 bytes), limit (4), interval: seconds (5), nanoseconds (4)
-- extra    for U the least cost and what must be left (4 each), for F when the hits leave that are given back: seconds (5), nanoseconds
--          (4), or nothing
--
-- Returns "1" or "0", and if the value changes, the new one and the second in which it expires.

local function sliding(op, stored, numbers, extra)
  local cost, limit, interval_s, interval_n = struct.unpack('>I4I4I5I4', numbers)

  -- When a hit leaves that is taken now. None leaves later.
  local latest_s, latest_n = now_s + interval_s, now_n + interval_n
  if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end
  local latest = struct.pack('>I5I4', latest_s, latest_n)

  -- Another value is not a state: the window has no hits.
  local count = 0
  if stored and #stored > 1 and #stored <= 9217 and #stored % 9 == 1 and string.byte(stored) == 0
    and is_time(struct.unpack('>I5I4', stored, #stored - 8)) then
    count = (#stored - 1) / 9
  end

  -- The first hit that leaves after this time; count + 1 if none does.
  local function first_after(s, n)
    local low, high = 1, count + 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      local hit_s, hit_n = struct.unpack('>I5I4', stored, 9 * middle - 7)
      if hit_s > s or (hit_s == s and hit_n > n) then high = middle else low = middle + 1 end
    end
    return low
  end

  local first, from_future = first_after(now_s, now_n), count + 1
  if count > 0 then
    local s, n = struct.unpack('>I5I4', stored, 9 * count - 7)
    if s > latest_s or (s == latest_s and n > latest_n) then from_future = first_after(latest_s, latest_n) end
  end
  -- Hits from the future were taken before the clock went back or the limit was changed; they are corrected to the latest
  -- time. An operation that settles a call corrects nothing: other numbers may have taken them.
  local corrected = from_future <= count and op ~= 'E' and op ~= 'F'
  local live = count - first + 1

  -- The hits that count, and so many that are taken now.
  local function hits(added)
    if live == 0 then return string.rep(latest, added) end
    local until_latest = string.sub(stored, 9 * first - 7, 9 * from_future - 8)
    if corrected then return until_latest .. string.rep(latest, count - from_future + 1 + added) end
    return until_latest .. string.rep(latest, added) .. string.sub(stored, 9 * from_future - 7)
  end

  -- Returns the answer and the value of these hits, of which there are some.
  local function with_hits(accepted, list)
    return accepted, '\0' .. list, (struct.unpack('>I5', list, #list - 8))
  end

  if op == 'U' then
    local least, leave = struct.unpack('>I4I4', extra)
    cost = math.max(math.min(cost, limit - live - leave), least)
    local needed = cost + leave
    op = needed > 0 and live + needed > limit and 'D' or cost > 0 and 'T' or 'N'
  end

  -- The window fills up and no more.
  if op == 'E' then
    cost = math.min(cost, limit - live)
    op = cost > 0 and 'T' or 'N'
  end

  if op == 'T' and live + cost <= limit then return with_hits('1', hits(cost)) end

  if op == 'F' then
    local list = hits(0)
    local last = live
    if extra then
      while last > 0 and string.sub(list, 9 * last - 8, 9 * last) ~= extra do last = last - 1 end
    end
    local removed = 0
    while removed < cost and removed < last do
      local at = last - removed
      if extra and string.sub(list, 9 * at - 8, 9 * at) ~= extra then break end
      removed = removed + 1
    end
    if removed > 0 then
      local rest = string.sub(list, 1, 9 * (last - removed)) .. string.sub(list, 9 * last + 1)
      if rest == '' then return '1', '' end
      return with_hits('1', rest)
    end
    if extra then op = 'D' end
  end

  if op == 'X' then return '1', stored and '' or nil end

  -- N, D, a take that is denied, and a refund that finds nothing: the hits stay.
  local accepted = (op == 'N' or op == 'F') and '1' or '0'
  if corrected then return with_hits(accepted, hits(0)) end
  return accepted
end
