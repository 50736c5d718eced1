-- The fixed window on the server: the port of limit::apply, held to it by the differential test.
--
-- KEYS[1]  the window; its value is what store/record.rs describes
-- ARGV     1 operation, a letter
--          2 cost (4 bytes), limit (4), interval: seconds (5), nanoseconds (4)
--          3 a test's frozen time: seconds (5), nanoseconds (4)
-- Returns  as bucket.lua
--
-- Times are split into seconds and nanoseconds, for a Lua number holds 53 bits.

local key, op, frozen = KEYS[1], ARGV[1], ARGV[3]
local cost, limit, interval_s, interval_n = struct.unpack('>I4I4I5I4', ARGV[2])
local time = redis.call('TIME')
local now_s, now_n
if frozen then
  now_s, now_n = struct.unpack('>I5I4', frozen)
else
  now_s, now_n = tonumber(time[1]), time[2] * 1000
end
local stored = redis.call('GET', key)

-- The reply is "1" or "0", and this.
local seen = time[1] .. ' ' .. time[2] .. ' ' .. (stored or '')
if op == 'P' then return '1' .. seen end

-- The last moment of a window that opens now.
local latest_s, latest_n = now_s + interval_s, now_n + interval_n
if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end

-- The window that is open; a last moment that no clock could have written is brought down.
local open, corrected = false, false
local ends_s, ends_n, hits = latest_s, latest_n, 0
if stored and #stored == 12 then
  local s, n, h = struct.unpack('>I5I4I3', stored)
  local valid = s < 4611686018 and n < 1e9
  if valid and (now_s < s or (now_s == s and now_n <= n)) then
    open, hits = true, math.min(h, limit)
    corrected = s > latest_s or (s == latest_s and n > latest_n)
    if not corrected then ends_s, ends_n = s, n end
  end
end

-- Keeps the window until it is over; for an hour more where a test has frozen the clock.
local function keep(count)
  local ttl = (ends_s - now_s) * 1000 + math.ceil((ends_n - now_n) / 1e6) + 1
  if frozen then ttl = ttl + 3600000 end
  redis.call('SET', key, struct.pack('>I5I4I3', ends_s, ends_n, count), 'PX', math.max(ttl, 1))
end

if op == 'T' and hits + cost <= limit then
  keep(hits + cost)
  return '1' .. seen
end

if op == 'F' and open and cost > 0 then
  keep(math.max(hits - cost, 0))
  return '1' .. seen
end

if op == 'X' then
  if stored then redis.call('DEL', key) end
  return '1' .. seen
end

-- N and D, which were decided before, and what is denied.
if corrected then keep(hits) end
return (op == 'N' or op == 'F') and '1' .. seen or '0' .. seen
