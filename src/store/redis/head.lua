-- The beginning of every script: the opcode, the clock, and what all algorithms need.
--
-- The scripts are the server-side implementation of limit::apply and limit::take_all; the differential
-- tests (tests/conformance.rs) compare the two. The caller makes the same decisions once more from the reply.
--
-- A script is this file, then the file of one algorithm (bucket.lua, window.lua, sliding.lua) or of all, then
-- one.lua or all.lua, which do the work; or this file and permits.lua.
--
-- KEYS     the keys of the buckets and windows; store/record.rs describes their values
-- ARGV[1]  the opcode, one letter, and the mark of the call, which the reply ends with
-- ARGV[2]  the frozen time of a test: seconds (5 bytes), nanoseconds (4); empty otherwise
-- ARGV[3]  one.lua and all.lua describe the others
--
-- Opcodes  T take, U take up to, R reserve, C check, F refund, S start, X reset, B block, P peek,
--          N accepted and D denied, whatever the state of the algorithm
--
-- A Lua number has 53 bits, so times are split into seconds (..._s) and nanoseconds (..._n).

local op, mark = string.sub(ARGV[1], 1, 1), string.sub(ARGV[1], 2)
local is_frozen = #ARGV[2] > 0
local time = redis.call('TIME')
local now_s, now_n
if is_frozen then
  now_s, now_n = struct.unpack('>I5I4', ARGV[2])
else
  now_s, now_n = tonumber(time[1]), time[2] * 1000
end

-- The server's clock in the reply.
local clock = time[1] .. ' ' .. time[2] .. ' '

-- Stores a value until it expires at s, n; forgets the key if the value is empty. The clock of a test stands
-- still, so its values stay an hour longer.
local function store(key, value, s, n)
  if value == '' then return redis.call('DEL', key) end
  local ttl = (s - now_s) * 1000 + math.ceil((n - now_n) / 1e6) + 1
  if is_frozen then ttl = ttl + 3600000 end
  -- Formatted here: Redis formats a number as a fraction, which takes longer.
  redis.call('SET', key, value, 'PX', string.format('%d', math.max(ttl, 1)))
end

-- Whether a clock can show this time: it is below 2^62 nanoseconds.
local function is_time(s, n)
  return s < 4611686018 and n < 1e9
end

-- Whether the value stored is a block. Expired ones are for the algorithm: it takes them for no state.
local function is_block(stored)
  if not stored or #stored ~= 9 then return false end
  local s, n = struct.unpack('>I5I4', stored)
  return is_time(s, n) and (s > now_s or (s == now_s and n > now_n))
end

-- Decides on a call that meets a block or sets one; extra is the duration of a new one. Returns what the
-- algorithms return: "1" or "0", and if the value changes, the new one and when it expires. Returns nothing
-- if the algorithm decides.
local function decide_block(op, stored, extra)
  local until_s, until_n, corrected
  if is_block(stored) then
    until_s, until_n = struct.unpack('>I5I4', stored)
    -- No block is longer than four years: the clock has gone back since.
    local most_s = now_s + 126230400
    corrected = until_s > most_s or (until_s == most_s and until_n > now_n)
    if corrected then until_s, until_n = most_s, now_n end
  end
  if op == 'B' then
    local s, n = struct.unpack('>I5I4', extra)
    s, n = now_s + s, now_n + n
    if n >= 1e9 then s = s + 1; n = n - 1e9 end
    if until_s and (until_s > s or (until_s == s and until_n > n)) then s, n = until_s, until_n end
    return '1', struct.pack('>I5I4', s, n), s, n
  end
  if not until_s or op == 'X' then return end
  if corrected then return '0', struct.pack('>I5I4', until_s, until_n), until_s, until_n end
  return '0'
end
