-- Decides on one bucket or window. Continues the file of its algorithm, whose function is now decide.
--
-- KEYS[1]  its key
-- ARGV[3]  the numbers of the call and its limit; the file of the algorithm describes them
-- ARGV[4]  a further number of some opcodes; missing in most calls
-- Reply    "1" (accepted) or "0" (denied), the server's seconds, " ", its microseconds, " ", the value
--          before the call, the mark; for P the "1" means nothing

local key = KEYS[1]
local stored = redis.call('GET', key)
local reply = clock .. (stored or '') .. mark
if op == 'P' then return '1' .. reply end

local accepted, value, s, n
if op == 'B' or (stored and #stored == 9) then accepted, value, s, n = decide_block(op, stored, ARGV[4]) end
if not accepted then accepted, value, s, n = decide(op, stored, ARGV[3], ARGV[4]) end
if value then store(key, value, s, n) end
return accepted .. reply
