-- The fixed window and the calendar window: the state is its last moment and the hits in it. Continues values.lua.
--
-- numbers  cost (4 bytes), limit (4), interval: seconds (5), nanoseconds (4); of a calendar window also the ends of
--          the last window, the current and the next one, in the same form
-- extra    for U the least cost and what must be left (4 each), for E and F when the window expires that the hits were taken from:
--          seconds (5), nanoseconds (4), or for F nothing
--
-- held     the hits of hosts, which no refund gives back: {thousand millions, the rest}; or nothing
--
-- Returns "1" or "0", and if the value changes, the new one and the second in which it expires. For U also what exceeds the least.

local function window(op, stored, numbers, extra, held)
  local cost, limit, interval_s, interval_n = struct.unpack('>I4I4I5I4', numbers)

  -- The last moment of a window that opens now. No open window ends later.
  local latest_s, latest_n = now_s + interval_s, now_n + interval_n - 1
  if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end
  if latest_n < 0 then latest_s = latest_s - 1; latest_n = latest_n + 1e9 end

  -- The last moment of the calendar's window, and the end of the next one. The boundaries are whole seconds.
  local is_calendar, next_s = #numbers > 17, 0
  if is_calendar then
    local first, _, second, _, third = struct.unpack('>I5I4I5I4I5', numbers, 18)
    local length = third - second
    latest_s, latest_n, next_s = third - 1, 999999999, third + length
    if now_s < first then
      latest_s, next_s = first - 1, second
    elseif now_s < second then
      latest_s, next_s = second - 1, third
    elseif now_s >= third then
      latest_s = third - 1 + (math.floor((now_s - third) / length) + 1) * length
      next_s = latest_s + 1 + length
    end
  end

  -- Moves a last moment to so many nanoseconds beyond its boundary: they number the windows that have one boundary, as
  -- limit/calendar_window.rs describes.
  local function numbered(s, n, beyond)
    n = n + 1 - (n + 1) % 1e6 + beyond - 1
    if n >= 1e9 then return s + 1, n - 1e9 end
    return s, n
  end
  local function number_of(n) return math.floor((n + 1) / 1000) % 1000 end

  -- limit::MAX_HITS.
  local MAX_HITS = 16777214

  -- Reads the open window. A last moment further ahead than the limit allows was written before the clock
  -- went back or the limit was changed; it is corrected to the latest one. An operation that settles a call corrects
  -- nothing: other numbers may have made the window.
  local settles = op == 'F' or op == 'E'
  local is_open, corrected = false, false
  local ends_s, ends_n, hits = latest_s, latest_n, 0
  -- The number of the window that follows a reset.
  local next_number
  if is_calendar and stored and #stored == 16 then
    local s, n, _, number = struct.unpack('>I5I4I4I3', stored)
    if is_time(s, n) then
      next_number = number
      ends_s, ends_n = numbered(latest_s, latest_n, next_number * 1000)
    end
  end
  if stored and #stored == 12 then
    local s, n, h = struct.unpack('>I5I4I3', stored)
    local lasts = is_time(s, n) and (now_s < s or (now_s == s and now_n <= n))
    if settles then
      if is_calendar and not lasts and extra and is_time(s, n) then
        -- A little later its window may be open by the calendar of the decision.
        local end_s, end_n = struct.unpack('>I5I4', extra)
        local is_before_end = now_s < end_s or (now_s == end_s and now_n < end_n)
        lasts = is_before_end and math.abs((s - end_s) + (n + 1 - end_n) / 1e9) <= 600
      end
    elseif is_calendar and is_time(s, n) then
      -- limit::CalendarWindow::find_open does the same, with its SLACK of 600 seconds.
      local beyond = (s - latest_s) + (n - latest_n) / 1e9
      local is_same = beyond <= 600 and beyond >= -600
      local left = (latest_s - now_s) + (latest_n + 1 - now_n) / 1e9
      local beyond_next = (s - next_s) + (n + 1) / 1e9
      local may_be_next = left <= 600 and beyond_next <= 600 and beyond_next >= -600
      local from_future = beyond > 600 and not may_be_next
      corrected = not lasts and is_same or from_future
      lasts = lasts or is_same
    elseif lasts then
      corrected = s > latest_s or (s == latest_s and n > latest_n)
    end
    if lasts then
      is_open, hits = true, h
      if is_calendar then next_number = number_of(n) % 999 + 1 end
      if not corrected then
        ends_s, ends_n = s, n
      elseif is_calendar then
        ends_s, ends_n = numbered(latest_s, latest_n, number_of(n) * 1000)
      end
    end
  end

  -- Returns the answer and the value of the window with these hits.
  local function with_hits(accepted, count)
    return accepted, struct.pack('>I5I4I3', ends_s, ends_n, count), ends_s
  end

  local more
  if op == 'U' then
    local least, leave = struct.unpack('>I4I4', extra)
    cost = math.max(math.min(cost, limit - hits - leave), least)
    more = {0, cost - least}
    local needed = cost + leave
    op = needed > 0 and hits + needed > limit and 'D' or cost > 0 and 'T' or 'N'
  end

  if op == 'T' and hits + cost <= limit then
    local accepted, value, s = with_hits('1', hits + cost)
    return accepted, value, s, more
  end
  if op == 'F' and held then cost = math.min(cost, math.max(hits - held[1] * 1e9 - held[2], 0)) end

  if settles and extra then
    local s, n = struct.unpack('>I5I4', extra)
    if n == 0 then s = s - 1; n = 1e9 end
    local differs = s ~= ends_s or n - 1 ~= ends_n
    if is_calendar then
      differs = math.abs((s - ends_s) + (n - 1 - ends_n) / 1e9) > 600 or number_of(n - 1) ~= number_of(ends_n)
    end
    if not is_open or differs then op = 'D' end
  end
  if op == 'F' and is_open and cost > 0 then return with_hits('1', math.max(hits - cost, 0)) end
  if op == 'E' and cost > 0 then return with_hits('1', math.min(hits + cost, MAX_HITS)) end

  if op == 'X' then
    if not next_number then return '1', stored and '' or nil end
    ends_s, ends_n = numbered(ends_s, ends_n, next_number * 1000)
    return with_hits('1', 0)
  end

  -- N, D, a take that is denied, a window that has ended before its call was settled, and nothing to settle: the hits stay.
  local accepted = (op == 'N' or op == 'F' or op == 'E') and '1' or '0'
  if corrected then return with_hits(accepted, hits) end
  return accepted
end
