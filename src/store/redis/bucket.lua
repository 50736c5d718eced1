-- The token bucket (GCRA): its state is the time at which the bucket is full. Continues take.lua, which has
-- decided on the usual case.
--
-- numbers  the time that the cost takes to refill: seconds (5 bytes), nanoseconds (4), parts of a nanosecond
--          (4); the time that the whole bucket takes, in the same form; the number of parts in a
--          nanosecond (4)
-- extra    a time in the same form: for R the longest wait, for S the time until the bucket is full; for U
--          the most tokens, the least, and those that must be left (4 bytes each), where the cost is that of one; for F when the decision
--          expires that took the tokens: seconds (5), nanoseconds (4), or nothing
--
-- Parts of a nanosecond have names with _p.
--
-- Returns "1" or "0", and if the value changes, the new one and the second in which it expires; an empty one
-- for a bucket to forget.

local function bucket(op, stored, numbers, extra)
  local cost_s, cost_n, cost_p, full_s, full_n, full_p, parts = struct.unpack('>I5I4I4I5I4I4I4', numbers)

  -- A bucket that is empty now is full at this time. No bucket without debts is full later.
  local latest_s, latest_n = now_s + full_s, now_n + full_n
  if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end

  -- A time is a table of seconds, nanoseconds and parts.

  -- GRAIN is the unit of debts in nanoseconds; MAX_DEBT is four years.
  local GRAIN, MAX_DEBT = 500, {126230400, 0, 0}
  local now, full, latest = {now_s, now_n, 0}, {full_s, full_n, full_p}, {latest_s, latest_n, full_p}
  local cost, more = {cost_s, cost_n, cost_p}, {0, 0, 0}
  if op == 'R' or op == 'S' then more[1], more[2], more[3] = struct.unpack('>I5I4I4', extra) end

  local function less(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    if a[2] ~= b[2] then return a[2] < b[2] end
    return a[3] < b[3]
  end

  local function add(a, b)
    local s, n, p = a[1] + b[1], a[2] + b[2], math.min(a[3], parts - 1) + b[3]
    if p >= parts then n = n + 1; p = p - parts end
    if n >= 1e9 then s = s + 1; n = n - 1e9 end
    return {s, n, p}
  end

  local function sub(a, b)
    if not less(b, a) then return {0, 0, 0} end
    local s, n, p = a[1] - b[1], a[2] - b[2], a[3] - b[3]
    if p < 0 then n = n - 1; p = p + parts end
    if n < 0 then s = s - 1; n = n + 1e9 end
    return {s, n, p}
  end

  local function ceil(a)
    if a[3] == 0 then return a end
    if a[2] + 1 == 1e9 then return {a[1] + 1, 0, 0} end
    return {a[1], a[2] + 1, 0}
  end

  local function to_grain(a)
    local n = math.ceil(a[2] / GRAIN) * GRAIN
    if n == 1e9 then return {a[1] + 1, 0, 0} end
    return {a[1], n, 0}
  end

  local function min(a, b)
    if less(b, a) then return b end
    return a
  end

  local function power(exponent)
    local ns = 2 ^ exponent
    local s = math.floor(ns / 1e9)
    return {s, ns - s * 1e9, 0}
  end

  -- Reads the state. kind: F filling, R reserved, O overdrawn. A time further ahead than the limit allows
  -- was written before the clock went back or the limit was lowered; it is corrected to the latest one.
  local kind, stored_at, fraction, ahead, debt = 'F', {0, 0, 0}, 0, 0, {0, 0, 0}
  local corrected = false
  local full_at
  local size = stored and #stored or 0
  -- A value without valid times is not a state: the bucket is full.
  local function has_time(from)
    return is_time(struct.unpack('>I5I4', stored, from))
  end
  if (size == 13 or size == 14 or size == 18) and not (has_time(1) and (size < 18 or has_time(10))) then size = 0 end
  if size == 14 then
    kind = 'R'
    stored_at[1], stored_at[2], fraction, ahead = struct.unpack('>I5I4I4B', stored)
    local furthest = add(ceil(latest), power(math.min(ahead, 57)))
    if less(furthest, stored_at) then stored_at, fraction, corrected = furthest, 0, true end
    -- The product of fraction and parts has up to 54 bits, so it is computed in two exact steps.
    local high = math.floor(fraction / 4096)
    local low = fraction - high * 4096
    local part = math.floor((high * parts + math.floor(low * parts / 4096)) / 4096)
    full_at = {stored_at[1], stored_at[2], part}
  elseif size == 18 then
    kind = 'O'
    stored_at[1], stored_at[2], debt[1], debt[2] = struct.unpack('>I5I4I5I4', stored)
    local furthest = to_grain(ceil(latest))
    if less(furthest, stored_at) then stored_at, corrected = furthest, true end
    if less(now, stored_at) then full_at = add(stored_at, min(debt, MAX_DEBT)) else full_at = {0, 0, 0} end
  else
    if size == 13 then stored_at[1], stored_at[2], stored_at[3] = struct.unpack('>I5I4I4', stored) end
    if less(latest, stored_at) then stored_at, corrected = latest, true end
    full_at = add(stored_at, {0, 0, 0})
  end
  if less(full_at, now) then full_at = now end

  -- Each of these returns the answer and a new value.
  local function filling(accepted, at)
    return accepted, struct.pack('>I5I4I4', at[1], at[2], at[3]), at[1]
  end

  local function reserved(accepted, at, fraction, ahead)
    return accepted, struct.pack('>I5I4I4B', at[1], at[2], fraction, ahead), at[1]
  end

  local function overdrawn(accepted, forgiven_at, debt)
    return accepted, struct.pack('>I5I4I5I4', forgiven_at[1], forgiven_at[2], debt[1], debt[2]), forgiven_at[1]
  end

  local function forgotten()
    return '1', stored and '' or nil
  end

  -- Leaves the bucket as it is, but for a corrected time.
  local function unchanged(accepted)
    if not corrected then return accepted end
    if kind == 'F' then return filling(accepted, stored_at) end
    if kind == 'R' then return reserved(accepted, stored_at, fraction, ahead) end
    return overdrawn(accepted, stored_at, debt)
  end

  -- A time beyond the latest: its parts become a fraction of 24 bits, rounded up, and its distance to the
  -- latest time the exponent of a power of two.
  local function reserved_until(at)
    local scaled = at[3] * 16777216
    local rest = math.fmod(scaled, parts)
    local fraction = math.floor((scaled - rest) / parts + 0.5) + (rest > 0 and 1 or 0)
    local whole = {at[1], at[2], 0}
    if fraction == 16777216 then whole = ceil({at[1], at[2], 1}); fraction = 0 end
    local beyond, ahead = ceil(sub(at, latest)), 0
    while less(power(ahead), beyond) do ahead = ahead + 1 end
    return reserved('1', whole, fraction, ahead)
  end

  -- How much later than it is forgiven a bucket would be full.
  local function debt_beyond(at, forgiven_at)
    return min(to_grain(sub(ceil(at), forgiven_at)), {MAX_DEBT[1] - 1, 1e9 - GRAIN, 0})
  end

  if op == 'N' then return unchanged('1') end
  if op == 'D' then return unchanged('0') end

  if op == 'U' then
    -- The largest sum of powers of two that fits, from the costs of 1, 2, 4, ... tokens.
    local most, least, leave = struct.unpack('>I4I4I4', extra)
    local costs = {cost}
    while 2 ^ #costs <= math.max(most, leave) do costs[#costs + 1] = add(costs[#costs], costs[#costs]) end
    -- The latest time at which the bucket can be full and have what must be left.
    local last, rest = latest, leave
    for i = #costs, 1, -1 do
      if rest >= 2 ^ (i - 1) then last, rest = sub(last, costs[i]), rest - 2 ^ (i - 1) end
    end
    local taken, at = 0, full_at
    for i = #costs, 1, -1 do
      local tokens, charged = 2 ^ (i - 1), add(at, costs[i])
      if taken + tokens <= most and not less(last, charged) then taken, at = taken + tokens, charged end
    end
    if taken < least or leave > 0 and less(last, at) then return unchanged('0') end
    if taken == 0 then return unchanged('1') end
    return filling('1', at)
  end

  if op == 'T' or op == 'R' or op == 'C' then
    local charged = add(full_at, cost)
    if not less(latest, charged) then return filling('1', charged) end
    if op == 'T' then return unchanged('0') end
    if op == 'C' then
      local forgiven_at = to_grain(ceil(latest))
      return overdrawn('0', forgiven_at, debt_beyond(charged, forgiven_at))
    end
    local affordable = ceil(sub(charged, full))
    if kind == 'O' then affordable = min(affordable, stored_at) end
    if less(min(more, MAX_DEBT), sub(affordable, now)) then return unchanged('0') end
    return reserved_until(charged)
  end

  if op == 'F' then
    local back, kept_back = cost, {0, 0, 0}
    if extra then
      local s, n = struct.unpack('>I5I4', extra)
      local missing = sub({s, n, 0}, now)
      if not less({0, 0, 0}, missing) then return unchanged('0') end
      if less(missing, cost) then back, kept_back = missing, {0, 1, 0} end
    end
    if not less(add(now, back), full_at) then return forgotten() end
    local at = add(sub(full_at, back), kept_back)
    if not less(now, at) then return forgotten() end
    if not less(latest, at) then return filling('1', at) end
    if kind == 'O' then return overdrawn('1', stored_at, debt_beyond(at, stored_at)) end
    return reserved_until(at)
  end

  if op == 'E' then
    -- What is beyond one capacity below empty is forgotten.
    local at, furthest = add(full_at, cost), add(latest, full)
    if less(furthest, at) then at = less(furthest, full_at) and full_at or furthest end
    if not less(full_at, at) then return unchanged('1') end
    if not less(latest, at) then return filling('1', at) end
    if kind == 'O' and less(now, stored_at) then return overdrawn('1', stored_at, debt_beyond(at, stored_at)) end
    return reserved_until(at)
  end

  if op == 'S' then
    if less(now, full_at) then return unchanged('0') end
    return filling('1', min(add(now, more), latest))
  end

  -- X
  return forgotten()
end
