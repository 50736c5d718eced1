-- The fixed window: its state is its last moment and the hits in it. Continues values.lua.
--
-- numbers  cost (4 bytes), limit (4), interval: seconds (5), nanoseconds (4)
-- extra    for U the least cost and what must be left (4 each), for F when the window expires that the hits were taken from: seconds
--          (5), nanoseconds (4), or nothing
--
-- Returns "1" or "0", and if the value changes, the new one and the second in which it expires.

local function window(op, stored, numbers, extra)
  local cost, limit, interval_s, interval_n = struct.unpack('>I4I4I5I4', numbers)

  -- The last moment of a window that opens now. No open window ends later.
  local latest_s, latest_n = now_s + interval_s, now_n + interval_n - 1
  if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end
  if latest_n < 0 then latest_s = latest_s - 1; latest_n = latest_n + 1e9 end

  -- A window counts twice its limit at most: limit::MAX_HITS bounds both.
  local most = math.min(2 * limit, 16777214)

  -- Reads the open window. A last moment further ahead than the limit allows was written before the clock
  -- went back or the limit was changed; it is corrected to the latest one.
  local is_open, corrected = false, false
  local ends_s, ends_n, hits = latest_s, latest_n, 0
  if stored and #stored == 12 then
    local s, n, h = struct.unpack('>I5I4I3', stored)
    if is_time(s, n) and (now_s < s or (now_s == s and now_n <= n)) then
      is_open, hits = true, math.min(h, most)
      corrected = s > latest_s or (s == latest_s and n > latest_n)
      if not corrected then ends_s, ends_n = s, n end
    end
  end

  -- Returns the answer and the value of the window with these hits.
  local function with_hits(accepted, count)
    return accepted, struct.pack('>I5I4I3', ends_s, ends_n, count), ends_s
  end

  if op == 'U' then
    local least, leave = struct.unpack('>I4I4', extra)
    cost = math.max(math.min(cost, limit - hits - leave), least)
    local needed = cost + leave
    op = needed > 0 and hits + needed > limit and 'D' or cost > 0 and 'T' or 'N'
  end

  if op == 'E' and cost > 0 then return with_hits('1', math.min(hits + cost, most)) end

  if op == 'T' and hits + cost <= limit then return with_hits('1', hits + cost) end

  if op == 'F' and extra then
    local s, n = struct.unpack('>I5I4', extra)
    if n == 0 then s = s - 1; n = 1e9 end
    if not is_open or s ~= ends_s or n - 1 ~= ends_n then op = 'D' end
  end
  if op == 'F' and is_open and cost > 0 then return with_hits('1', math.max(hits - cost, 0)) end

  if op == 'X' then return '1', stored and '' or nil end

  -- N, D, a take that is denied, a refund to a window that has ended, and nothing to settle: the hits stay.
  local accepted = (op == 'N' or op == 'F' or op == 'E') and '1' or '0'
  if corrected then return with_hits(accepted, hits) end
  return accepted
end
