-- What every script begins with: who is asked for, the time, and what is stored.
--
-- KEYS[1]  the key; its value is what store/record.rs describes
-- ARGV     1 operation, a letter; then the mark of the call
--          2 the numbers of the call and its limit, which each script describes
--          3 a test's frozen time: seconds (5 bytes), nanoseconds (4); may be empty
-- Returns  "1" or "0" for accepted or not; the server's time; the state before; the mark. With these
--          the caller makes the same decision once more, to have all its numbers.
--
-- Times are split into seconds and nanoseconds, for a Lua number holds 53 bits.

local key, op, mark = KEYS[1], string.sub(ARGV[1], 1, 1), string.sub(ARGV[1], 2)
local frozen = #(ARGV[3] or '') > 0
local time = redis.call('TIME')
local now_s, now_n
if frozen then
  now_s, now_n = struct.unpack('>I5I4', ARGV[3])
else
  now_s, now_n = tonumber(time[1]), time[2] * 1000
end
local stored = redis.call('GET', key)

-- The reply is "1" or "0", and this.
local seen = time[1] .. ' ' .. time[2] .. ' ' .. (stored or '') .. mark
if op == 'P' then return '1' .. seen end

-- Keeps a state until it is as good as new; for an hour more where a test has frozen the clock.
local function keep(value, s, n)
  local ttl = (s - now_s) * 1000 + math.ceil((n - now_n) / 1e6) + 1
  if frozen then ttl = ttl + 3600000 end
  redis.call('SET', key, value, 'PX', math.max(ttl, 1))
end
