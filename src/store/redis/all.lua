-- Changes several buckets and windows or none of them, or the first one that accepts. Continues the files of all algorithms.
--
-- ARGV[1]  the opcode is T; O to change only the first one that accepts; P to change nothing
-- ARGV[3]  of the first key: its algorithm, b (bucket), w (window) or s (sliding window); its opcode; r if its
--          denial denies the call, else -; the further number of some opcodes
-- ARGV[4]  the numbers of the call and of its limit, as for one key; and so on for the other keys
-- Reply    "1" (changed) or "0", the server's seconds, " ", its microseconds, " ", then of each key the
--          value before the call, behind its length (2 bytes), and the mark. With O the keys end with the changed one

local algorithms = {b = bucket, w = window, s = sliding}
local is_accepted = op ~= 'O'
local before, values, ends = {}, {}, {}
for i = 1, #KEYS do
  local stored, how, numbers = redis.call('GET', KEYS[i]), ARGV[2 * i + 1], ARGV[2 * i + 2]
  local algorithm, opcode = string.sub(how, 1, 1), string.sub(how, 2, 2)
  local extra = #how > 3 and string.sub(how, 4) or nil
  local accepted, value, s
  if algorithm == 'b' then accepted, value, s = take(opcode, stored, numbers, 1) end
  if not accepted then
    local decide = is_block(stored) and decide_block or algorithms[algorithm]
    accepted, value, s = decide(opcode, stored, numbers, extra)
  end
  values[i], ends[i] = value, s
  -- A longer value is not a state.
  local size = stored and #stored <= 9217 and #stored or 0
  before[i] = struct.pack('>I2', size) .. (size > 0 and stored or '')
  if op == 'O' and accepted == '1' then
    is_accepted = true
    if value then store(KEYS[i], value, s) end
    break
  end
  if accepted == '0' and string.sub(how, 3, 3) == 'r' then is_accepted = false end
end
if is_accepted and op == 'T' then
  for i, key in ipairs(KEYS) do
    if values[i] then store(key, values[i], ends[i]) end
  end
end
return (is_accepted and '1' or '0') .. clock .. table.concat(before) .. mark
