-- The fixed window on the server: the port of limit::apply, held to it by the differential test. Goes on
-- from head.lua.
--
-- ARGV     2 cost (4 bytes), limit (4), interval: seconds (5), nanoseconds (4)

local cost, limit, interval_s, interval_n = struct.unpack('>I4I4I5I4', ARGV[2])

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

local function keep_hits(count)
  keep(struct.pack('>I5I4I3', ends_s, ends_n, count), ends_s, ends_n)
end

if op == 'T' and hits + cost <= limit then
  keep_hits(hits + cost)
  return '1' .. seen
end

if op == 'F' and open and cost > 0 then
  keep_hits(math.max(hits - cost, 0))
  return '1' .. seen
end

if op == 'X' then
  if stored then redis.call('DEL', key) end
  return '1' .. seen
end

-- N and D, which were decided before, and what is denied.
if corrected then keep_hits(hits) end
return (op == 'N' or op == 'F') and '1' .. seen or '0' .. seen
