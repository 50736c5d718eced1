-- Takes from several buckets and windows, or from none of them. Continues bucket.lua and window.lua.
--
-- ARGV[1]  the opcode is T, or P to change nothing
-- ARGV[3]  of the first key: its algorithm, b (bucket) or w (window); its opcode, T, N or D; r if its denial
--          denies the call
-- ARGV[4]  the numbers of the call and of its limit, as for one key; and so on for the other keys
-- Reply    "1" (taken) or "0", the server's seconds, " ", its microseconds, " ", then of each key the
--          value before the call, behind its length (4 bytes), and the mark

local is_accepted = true
local before, changes = {}, {}
for i, key in ipairs(KEYS) do
  local stored, numbers = redis.call('GET', key), ARGV[2 * i + 2]
  local algorithm, own_op, required = string.match(ARGV[2 * i + 1], '(.)(.)(.?)')
  local accepted, value, s, n
  if is_block(stored) then accepted = '0'
  elseif algorithm == 'b' then accepted, value, s, n = bucket(own_op, stored, numbers)
  else accepted, value, s, n = window(own_op, stored, numbers) end
  if accepted == '0' and required == 'r' then is_accepted = false end
  if value then changes[#changes + 1] = {key, value, s, n} end
  before[i] = struct.pack('>I4', stored and #stored or 0) .. (stored or '')
end
if is_accepted and op == 'T' then
  for _, change in ipairs(changes) do store(change[1], change[2], change[3], change[4]) end
end
return (is_accepted and '1' or '0') .. clock .. table.concat(before) .. mark
