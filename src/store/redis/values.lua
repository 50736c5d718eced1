-- What the algorithms need beyond the usual case: valid times, and blocks. Continues head.lua.

-- Whether a clock can show this time: it is below 2^62 nanoseconds.
local function is_time(s, n)
  return s < 4611686018 and n < 1e9
end

-- Whether the value stored is a block that lasts. The algorithm takes an expired one for no state.
local function is_block(stored)
  if not stored or #stored ~= 16 then return false end
  local s, n, asked = struct.unpack('>I5I4I4', stored)
  return is_time(s, n) and asked > 0 and (s > now_s or (s == now_s and n > now_n))
end

-- Decides on a call that meets a block or sets one; extra is the duration of a new one. Returns what the
-- algorithms return: "1" or "0", and if the value changes, the new one and the second in which it expires.
-- Returns nothing if the algorithm decides. The value keeps how many seconds before its end it was written at most, and the number of
-- a calendar window after it (limit/calendar_window.rs), for which it is kept as long as the window that it replaces.
local function decide_block(key, op, stored, extra)
  local until_s, until_n, asked, corrected
  if is_block(stored) then
    until_s, until_n, asked = struct.unpack('>I5I4I4', stored)
    -- One from before the clock went back. No block is longer than four years.
    local most_s = now_s + math.min(asked, 126230400)
    corrected = until_s > most_s or (until_s == most_s and until_n > now_n)
    if corrected then until_s, until_n = most_s, now_n end
  end
  if op == 'B' then
    local s, n = struct.unpack('>I5I4', extra)
    s, n = now_s + s, now_n + n
    if n >= 1e9 then s = s + 1; n = n - 1e9 end
    if until_s and (until_s > s or (until_s == s and until_n > n)) then s, n = until_s, until_n end
    -- Rounded up to seconds of 13 bits and the exponent of a power of two.
    local seconds, step = s - now_s + (n > now_n and 1 or 0), 1
    while seconds / 8192 >= step do step = step * 2 end
    local number, kept_s = 1, s
    if stored and #stored == 16 and is_time(struct.unpack('>I5I4', stored)) then
      number = struct.unpack('>I3', stored, 14)
      -- Without what store() adds.
      local left_s = math.floor((now_n / 1e6 + redis.call('PTTL', key)) / 1000) - 2 - (is_frozen and 3600 or 0)
      kept_s = math.max(s, now_s + left_s)
    -- The latter is one of which hosts hold hits (leased.lua).
    elseif stored and (#stored == 12 or #stored == 24) then
      local last_s, last_n = struct.unpack('>I5I4', stored)
      if is_time(last_s, last_n) then
        number, kept_s = math.floor((last_n + 1) / 1000) % 1000 % 999 + 1, math.max(s, last_s)
      end
    end
    return '1', struct.pack('>I5I4I4I3', s, n, math.ceil(seconds / step) * step, number), kept_s
  end
  if not until_s or op == 'X' then return end
  if corrected then return '0', struct.pack('>I5I4', until_s, until_n) .. string.sub(stored, 10), until_s end
  return '0'
end
