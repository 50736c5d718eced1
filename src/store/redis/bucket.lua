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
-- held     the time that tokens of hosts take to come back, which no refund gives back; or nothing
--
-- Returns "1" or "0", and if the value changes, the new one and the second in which it expires; an empty one
-- for a bucket to forget. For U also the time of what exceeds the least.

local function bucket(op, stored, numbers, extra, held)
  local cost_s, cost_n, cost_p, full_s, full_n, full_p, parts = struct.unpack('>I5I4I4I5I4I4I4', numbers)

  -- A bucket that is empty now is full at this time. No bucket without debts is full later.
  local latest_s, latest_n = now_s + full_s, now_n + full_n
  if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end

  -- A time is a table of seconds, nanoseconds and parts.

  -- GRAIN is the unit of debts in nanoseconds; MAX_DEBT is four years, LONGEST_AHEAD 2^57 nanoseconds.
  local GRAIN, MAX_DEBT = 1000, {126230400, 0, 0}
  local MOST_REFILLS, LONGEST_AHEAD = 127, {144115188, 75855872, 0}
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

  -- As many full refills as a code says, which limit/refills.rs describes: how far beyond the latest time a reservation may lie,
  -- before a cap.
  local function refills(code)
    local one, number = ceil(full), code
    if code >= 32 then number = (2 + code % 2) * 16 * 2 ^ math.floor((code - 32) / 2) end
    if code >= MOST_REFILLS then number = 2 ^ 57 end
    if (one[1] + one[2] / 1e9) * number > 1e9 then return {1e9, 0, 0} end
    -- Exact: six bits of a number, which a power of two follows.
    local n = one[2] * number
    local rest = math.fmod(n, 1e9)
    return {one[1] * number + (n - rest) / 1e9, rest, 0}
  end

  -- A reach, as limit/reach.rs describes it: microseconds as 18 bits, the exponent of a power of four above them, and above it
  -- whether the time that it was empty may lie beyond now (1 or 0), and the code of the refills that it owes.
  local function to_reach(span, owes, ahead)
    local mantissa, exponent = span[1] * 1e6 + math.ceil(span[2] / 1000), 0
    while mantissa >= 262144 do mantissa, exponent = math.ceil(mantissa / 4), exponent + 1 end
    if exponent > 15 then mantissa, exponent = 262143, 15 end
    return owes * 8388608 + ahead * 4194304 + exponent * 262144 + mantissa
  end

  local function owed_by(reach)
    return math.floor(reach / 8388608) % 128
  end

  local function ahead_by(reach)
    return math.floor(reach / 4194304) % 2
  end

  local function from_reach(reach)
    local us = reach % 262144 * 4 ^ (math.floor(reach / 262144) % 16)
    local s = math.floor(us / 1e6)
    return {s, (us - s * 1e6) * 1000, 0}
  end

  local function debt_span(owes)
    return min(refills(owes), LONGEST_AHEAD)
  end

  -- Reads the state. kind: F filling, R reserved, O overdrawn, M emptied. A bucket further from full than the limit allows was
  -- written before the clock went back or by other numbers: it is corrected to one that is empty now. An operation that
  -- settles a call corrects nothing.
  local settles = op == 'F' or op == 'E'
  local kind, stored_at, fraction, ahead, debt, reach = 'F', {0, 0, 0}, 0, 0, {0, 0, 0}, 0
  -- When it is full by the numbers that made it, of an emptied one.
  local last
  local function empty_now(at, owes)
    kind, stored_at = 'M', to_grain(now)
    reach = to_reach(sub(at, stored_at), math.min(owes, MOST_REFILLS), 0)
  end
  local corrected = false
  local full_at
  local size = stored and #stored or 0
  -- A value without valid times is not a state: the bucket is full.
  local function has_time(from)
    return is_time(struct.unpack('>I5I4', stored, from))
  end
  if (size == 13 or size == 14 or size == 15 or size == 18) and not (has_time(1) and (size < 18 or has_time(10))) then size = 0 end
  if size == 15 and struct.unpack('>I2', stored, 10) > 0 then size = 0 end
  if size == 14 then
    kind = 'R'
    stored_at[1], stored_at[2], fraction, ahead = struct.unpack('>I5I4I4B', stored)
    local furthest = add(ceil(latest), debt_span(ahead))
    if not settles and less(furthest, stored_at) then
      empty_now(ceil({stored_at[1], stored_at[2], fraction}), ahead)
      corrected = true
    end
    -- The product has up to 52 bits.
    local part = math.floor(fraction * parts / 4194304)
    full_at = {stored_at[1], stored_at[2], part}
  elseif size == 15 then
    kind = 'M'
    stored_at[1], stored_at[2], reach = struct.unpack('>I5I4I6', stored)
    local is_ahead = ahead_by(reach)
    if not settles and less(to_grain(is_ahead == 1 and ceil(latest) or now), stored_at) then
      empty_now(add(stored_at, from_reach(reach)), owed_by(reach) + is_ahead)
      corrected = true
    end
  elseif size == 18 then
    kind = 'O'
    stored_at[1], stored_at[2], debt[1], debt[2] = struct.unpack('>I5I4I5I4', stored)
    local furthest = to_grain(ceil(latest))
    if not settles and less(furthest, stored_at) then
      empty_now(stored_at, 0)
      corrected = true
    end
    if less(now, stored_at) then full_at = add(stored_at, min(debt, MAX_DEBT)) else full_at = {0, 0, 0} end
  else
    if size == 13 then stored_at[1], stored_at[2], stored_at[3] = struct.unpack('>I5I4I4', stored) end
    if not settles and less(latest, stored_at) then
      empty_now(ceil(stored_at), 0)
      corrected = true
    end
    full_at = add(stored_at, {0, 0, 0})
  end
  if kind == 'M' then
    last = add(stored_at, from_reach(reach))
    full_at = min(add(add(stored_at, debt_span(owed_by(reach))), full), last)
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

  local function emptied(accepted, at, owes, ahead, until_full)
    at = to_grain(at)
    local reach = to_reach(sub(until_full, at), owes, ahead)
    return accepted, struct.pack('>I5I4I6', at[1], at[2], reach), add(at, from_reach(reach))[1]
  end

  -- Whether other numbers have made the bucket, by which it is not full yet.
  local is_emptied = kind == 'M' and less(now, last)

  -- The bucket that other numbers have made, once a call has made it full at a time.
  local function charged(accepted, at)
    local cost = ceil(sub(at, full_at))
    local until_full = add(less(last, now) and now or last, cost)
    local owes = owed_by(reach)
    local emptied_at = min(add(stored_at, cost), less(stored_at, now) and now or stored_at)
    local needed = sub(ceil(sub(at, full)), debt_span(owes))
    if less(emptied_at, needed) then emptied_at = needed end
    local is_ahead = less(now, emptied_at) and (ahead_by(reach) == 1 or less(stored_at, emptied_at))
    return emptied(accepted, emptied_at, owes, is_ahead and 1 or 0, until_full)
  end

  local function forgotten()
    return '1', stored and '' or nil
  end

  -- Leaves the bucket as it is, but for a corrected time.
  local function unchanged(accepted)
    if not corrected then return accepted end
    if kind == 'F' then return filling(accepted, stored_at) end
    if kind == 'R' then return reserved(accepted, stored_at, fraction, ahead) end
    if kind == 'M' then return emptied(accepted, stored_at, owed_by(reach), ahead_by(reach), last) end
    return overdrawn(accepted, stored_at, debt)
  end

  -- The code of the fewest refills that reach from `empty` to a time.
  local function ahead_for(at, empty)
    local beyond, ahead = ceil(sub(at, empty)), 1
    while ahead < MOST_REFILLS and less(refills(ahead), beyond) do ahead = ahead + 1 end
    return ahead
  end

  -- A time so far ahead: its parts become a fraction of 22 bits, rounded up.
  local function reserved_until(at, ahead)
    local scaled = at[3] * 4194304
    local rest = math.fmod(scaled, parts)
    local fraction = math.floor((scaled - rest) / parts + 0.5) + (rest > 0 and 1 or 0)
    local whole = {at[1], at[2], 0}
    if fraction == 4194304 then whole = ceil({at[1], at[2], 1}); fraction = 0 end
    return reserved('1', whole, fraction, ahead)
  end

  -- How far ahead the bucket may lie for what was reserved, until it is full: by shorter numbers it may still be owed.
  local owed_ahead = kind == 'R' and less(now, full_at) and ahead or nil

  -- The bucket once tokens that are there were taken.
  local function taken_until(at)
    if is_emptied then return charged('1', at) end
    if owed_ahead then return reserved_until(at, owed_ahead) end
    return filling('1', at)
  end

  -- How much later than it is forgiven a bucket would be full.
  local function debt_beyond(at, forgiven_at)
    return min(to_grain(sub(ceil(at), forgiven_at)), {MAX_DEBT[1] - 1, 1e9 - GRAIN, 0})
  end

  if op == 'N' then return unchanged('1') end
  if op == 'D' then return unchanged('0') end

  if op == 'U' then
    local most, least, leave = struct.unpack('>I4I4I4', extra)
    -- The costs of 1, 2, 4, ... tokens.
    local costs = {cost}
    while 2 ^ #costs <= math.max(most, leave) do costs[#costs + 1] = add(costs[#costs], costs[#costs]) end
    -- Takes as many of `most` tokens as fit until the bucket is full at `furthest`: a sum of powers of two, the largest first.
    local function take_up_to(most, from, furthest)
      local taken, at = 0, from
      for i = #costs, 1, -1 do
        local tokens, later = 2 ^ (i - 1), add(at, costs[i])
        if taken + tokens <= most and not (furthest and less(furthest, later)) then taken, at = taken + tokens, later end
      end
      return taken, at
    end
    -- The latest time at which the bucket can be full and have what must be left.
    local _, cost_of_left = take_up_to(leave, {0, 0, 0})
    local furthest = sub(latest, cost_of_left)
    local taken, at = take_up_to(most, full_at, furthest)
    if taken < least or leave > 0 and less(furthest, at) then return unchanged('0') end
    if taken == 0 then return unchanged('1') end
    local accepted, value, s = taken_until(at)
    return accepted, value, s, ceil(select(2, take_up_to(taken - least, {0, 0, 0})))
  end

  if op == 'T' or op == 'R' or op == 'C' then
    local at = add(full_at, cost)
    if not less(latest, at) then return taken_until(at) end
    if op == 'T' then return unchanged('0') end
    if op == 'C' then
      -- On top of a debt that is not forgiven it charges nothing.
      if is_emptied or kind == 'R' and less(latest, full_at) then return unchanged('0') end
      local forgiven_at = to_grain(ceil(latest))
      return overdrawn('0', forgiven_at, debt_beyond(at, forgiven_at))
    end
    local affordable = ceil(sub(at, full))
    if kind == 'O' then affordable = min(affordable, stored_at) end
    if less(min(more, is_emptied and add(debt_span(owed_by(reach)), {full_s, full_n, 0}) or MAX_DEBT), sub(affordable, now)) then return unchanged('0') end
    -- What denied checks owe beyond that is forgiven: the bucket is empty when the caller has waited.
    at = min(at, add(affordable, full))
    if is_emptied then return charged('1', at) end
    return reserved_until(at, math.max(ahead_for(at, latest), owed_ahead or 0))
  end

  if op == 'F' then
    local back, kept_back = cost, {0, 0, 0}
    if extra then
      local s, n = struct.unpack('>I5I4', extra)
      local missing = sub({s, n, 0}, now)
      if not less({0, 0, 0}, missing) then return unchanged('0') end
      if less(missing, cost) then back, kept_back = missing, {0, 1, 0} end
    end
    if held and less({0, 0, 0}, held) then
      local used = sub(full_at, add(now, held))
      if not less({0, 0, 0}, used) then return unchanged('1') end
      back = min(back, used)
    end
    if kind == 'M' then
      local whole = {back[1], back[2], 0}
      local until_full = add(sub(last, whole), {0, kept_back[2], 0})
      if not less(now, until_full) then return forgotten() end
      -- The time at which it was empty moves only if the limit would get less than half of that back otherwise.
      local wanted = ceil(sub(full_at, back))
      if less(wanted, now) then wanted = now end
      local half = {math.floor(back[1] / 2), math.floor((back[1] % 2 * 1e9 + back[2]) / 2), 0}
      local at = min(stored_at, until_full)
      if less(half, sub(until_full, wanted)) then at = sub(stored_at, whole) end
      return emptied('1', at, owed_by(reach), less(now, at) and ahead_by(reach) or 0, until_full)
    end
    if not less(add(now, back), full_at) then return forgotten() end
    local at = add(sub(full_at, back), kept_back)
    if not less(now, at) then return forgotten() end
    if kind == 'R' then return reserved_until(at, ahead) end
    if kind == 'O' and less(stored_at, add(ceil(at), {0, GRAIN, 0})) then
      return overdrawn('1', stored_at, debt_beyond(at, stored_at))
    end
    return filling('1', at)
  end

  if op == 'E' then
    local before, empty = full_at, latest
    -- A bucket of other numbers may be empty at a later time.
    if kind == 'F' and less(latest, full_at) then empty = full_at end
    -- What denied checks owe is forgiven, this is not: it is empty, and owes this alone.
    if kind == 'O' and less(now, stored_at) then
      empty = less(latest, stored_at) and stored_at or latest
      before = empty
    end
    -- What is beyond one capacity below empty is forgotten.
    local at, furthest = add(before, cost), add(empty, full)
    if less(furthest, at) then at = less(furthest, before) and before or furthest end
    if not less(before, at) then return unchanged('1') end
    if is_emptied then return charged('1', at) end
    if kind == 'R' then return reserved_until(at, math.max(ahead_for(at, empty), ahead)) end
    if less(empty, at) then return reserved_until(at, ahead_for(at, empty)) end
    return filling('1', at)
  end

  if op == 'S' then
    if less(now, full_at) or is_emptied then return unchanged('0') end
    return filling('1', min(add(now, more), latest))
  end

  -- X
  return forgotten()
end
