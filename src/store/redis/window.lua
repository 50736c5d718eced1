-- The fixed window: its state is its last moment and the hits in it. Continues head.lua.
--
-- ARGV[2]  cost (4 bytes), limit (4), interval: seconds (5), nanoseconds (4)

local cost, limit, interval_s, interval_n = struct.unpack('>I4I4I5I4', ARGV[2])

-- The last moment of a window that opens now. No open window ends later.
local latest_s, latest_n = now_s + interval_s, now_n + interval_n
if latest_n >= 1e9 then latest_s = latest_s + 1; latest_n = latest_n - 1e9 end

-- Reads the open window. A last moment further ahead than the limit allows was written before the clock
-- went back or the limit was changed; it is corrected to the latest one.
local is_open, corrected = false, false
local ends_s, ends_n, hits = latest_s, latest_n, 0
if stored and #stored == 12 then
  local s, n, h = struct.unpack('>I5I4I3', stored)
  if is_time(s, n) and (now_s < s or (now_s == s and now_n <= n)) then
    is_open, hits = true, math.min(h, limit)
    corrected = s > latest_s or (s == latest_s and n > latest_n)
    if not corrected then ends_s, ends_n = s, n end
  end
end

local function store_hits(count)
  store(struct.pack('>I5I4I3', ends_s, ends_n, count), ends_s, ends_n)
end

if op == 'T' and hits + cost <= limit then
  store_hits(hits + cost)
  return '1' .. reply
end

if op == 'F' and is_open and cost > 0 then
  store_hits(math.max(hits - cost, 0))
  return '1' .. reply
end

if op == 'X' then
  if stored then redis.call('DEL', key) end
  return '1' .. reply
end

-- N, D, a take that is denied, and a refund to a window that has ended: the hits stay.
if corrected then store_hits(hits) end
return (op == 'N' or op == 'F') and '1' .. reply or '0' .. reply
