-- The usual case of a token bucket: takes tokens while it has no debt and no reservation. Continues store.lua.
-- It comes before all else, for the server pays for each function that a script defines.
--
-- numbers  a string that has the numbers of bucket.lua from byte `at` on
--
-- Returns what bucket() returns, or nothing if the case is another one.

local function take(op, stored, numbers, at)
  if op ~= 'T' or (stored and #stored ~= 13) then return end
  local cost_s, cost_n, cost_p, full_s, full_n, full_p, parts = struct.unpack('>I5I4I4I5I4I4I4', numbers, at)

  -- A bucket that is empty now is full at this time, and full_p. None without debts is full later.
  local latest_s, latest_n = now_s + full_s, now_n + full_n
  if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end

  local s, n, p = now_s, now_n, 0
  if stored then
    local fs, fn, fp = struct.unpack('>I5I4I4', stored)
    local is_possible = fn < 1e9 and (fs < latest_s or (fs == latest_s and (fn < latest_n or (fn == latest_n and fp <= full_p))))
    if not is_possible then return end
    if fp >= parts then fp = parts - 1 end
    if fs > s or (fs == s and fn >= n) then s, n, p = fs, fn, fp end
  end
  s, n, p = s + cost_s, n + cost_n, p + cost_p
  if p >= parts then n = n + 1; p = p - parts end
  if n >= 1e9 then s = s + 1; n = n - 1e9 end
  if s < latest_s or (s == latest_s and (n < latest_n or (n == latest_n and p <= full_p))) then
    return '1', struct.pack('>I5I4I4', s, n, p), s
  end
  return '0'
end
