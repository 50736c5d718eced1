-- The beginning of every script: reads the arguments, the clock and the stored state.
--
-- A script is the server-side implementation of limit::apply for one algorithm; the differential test
-- (tests/conformance.rs) compares the two. The caller makes the same decision once more from the reply.
--
-- KEYS[1]  the key of the bucket or window; store/record.rs describes its value
-- ARGV[1]  the opcode, one letter, and the mark of the call, which the reply ends with
-- ARGV[2]  the numbers of the call and its limit; bucket.lua and window.lua describe them
-- ARGV[3]  the frozen time of a test: seconds (5 bytes), nanoseconds (4); empty or missing otherwise
-- ARGV[4]  bucket.lua describes it; missing in most calls
--
-- Opcodes  T take, R reserve, C check, F refund, S start, X reset, P peek,
--          N accepted and D denied, whatever the state; for P the reply's "1" means nothing
-- Reply    "1" (accepted) or "0" (denied), the server's seconds, " ", its microseconds, " ", the state
--          before the call, the mark
--
-- A Lua number has 53 bits, so times are split into seconds (..._s) and nanoseconds (..._n).

local key, op, mark = KEYS[1], string.sub(ARGV[1], 1, 1), string.sub(ARGV[1], 2)
local is_frozen = #(ARGV[3] or '') > 0
local time = redis.call('TIME')
local now_s, now_n
if is_frozen then
  now_s, now_n = struct.unpack('>I5I4', ARGV[3])
else
  now_s, now_n = tonumber(time[1]), time[2] * 1000
end
local stored = redis.call('GET', key)

-- The reply without its first character.
local reply = time[1] .. ' ' .. time[2] .. ' ' .. (stored or '') .. mark
if op == 'P' then return '1' .. reply end

-- Stores a state until it expires at s, n. The clock of a test stands still, so its states stay an hour
-- longer.
local function store(value, s, n)
  local ttl = (s - now_s) * 1000 + math.ceil((n - now_n) / 1e6) + 1
  if is_frozen then ttl = ttl + 3600000 end
  redis.call('SET', key, value, 'PX', math.max(ttl, 1))
end

-- Whether a clock can show this time: it is below 2^62 nanoseconds.
local function is_time(s, n)
  return s < 4611686018 and n < 1e9
end
