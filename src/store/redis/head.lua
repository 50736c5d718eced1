-- The beginning of every script: the opcode, the mark and the clock.
--
-- The scripts are the server-side implementation of limit::apply and limit::take_all; the differential
-- tests (tests/conformance.rs) compare the two. The caller makes the same decisions once more from the reply.
--
-- KEYS     the keys of the buckets and windows; store/record.rs describes their values
-- ARGV[1]  the opcode (1 byte), the mark of the call (8), which the reply ends with; of a call on one key also
--          the numbers of the call and its limit, which the file of the algorithm describes
-- ARGV[2]  the frozen time of a test: seconds (5 bytes), nanoseconds (4); missing or empty otherwise
-- ARGV[3]  one.lua, all.lua and permits.lua describe the others
--
-- Opcodes  T take, U take up to, R reserve, C check, F refund, E settle (what exceeds an estimate), S start, X reset,
--          B block, L lease, G give back,
--          P peek, N accepted and D denied, whatever the state of the algorithm
--
-- A Lua number has 53 bits, so times are split into seconds (..._s) and nanoseconds (..._n).

local op, mark = struct.unpack('c1c8', ARGV[1])
local time, frozen = redis.call('TIME'), ARGV[2]
local now_s, now_n = time[1] + 0, time[2] * 1000
local is_frozen = frozen and frozen ~= ''
if is_frozen then now_s, now_n = struct.unpack('>I5I4', frozen) end

-- The server's clock in the reply.
local clock = time[1] .. ' ' .. time[2] .. ' '
