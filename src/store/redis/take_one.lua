-- Decides on the usual case of one bucket. Continues key.lua and take.lua.

local accepted, value, s = take(op, stored, ARGV[1], 10)
if accepted then
  if value then store(key, value, s, accepted) end
  return accepted .. reply
end
