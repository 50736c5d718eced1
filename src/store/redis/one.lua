-- Decides on one bucket or window. Continues the file of its algorithm, whose function is now decide.
--
-- ARGV[3]  a further number of some opcodes; missing in most calls

local accepted, value, s
if op == 'B' or (stored and #stored == 16) then accepted, value, s = decide_block(key, op, stored, ARGV[3]) end
if not accepted then accepted, value, s = decide_leased(decide, op, stored, string.sub(ARGV[1], 10), ARGV[3]) end
if value then store(key, value, s, accepted) end
return accepted .. reply
