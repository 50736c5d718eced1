-- Changes several buckets and windows or none of them. A key that is not changed is kept, but for times from the future, which are
-- corrected. Continues the files of all algorithms.
--
-- ARGV[1]  the opcode is T; P to change nothing
-- ARGV[3]  of the first key: its algorithm, b (bucket), w (window) or s (sliding window); its opcode; r if its
--          denial denies the call, else -; the further number of some opcodes
-- ARGV[4]  the numbers of the call and of its limit, as for one key; and so on for the other keys
-- Reply    "1" (changed) or "0", the server's seconds, " ", its microseconds, " ", then of each key the
--          value before the call, behind its length (2 bytes), and the mark

local algorithms = {b = bucket, w = window, s = sliding}

-- Decides on one key, with the arguments that describe it. Its opcode is `instead`, if that is given. Returns what the algorithms
-- return, and whether only the usual case of a bucket was needed, in which nothing is corrected.
local function decide_on(i, stored, instead)
  local how, numbers = ARGV[2 * i + 1], ARGV[2 * i + 2]
  local algorithm, opcode = string.sub(how, 1, 1), instead or string.sub(how, 2, 2)
  local extra = #how > 3 and string.sub(how, 4) or nil
  if algorithm == 'b' then
    local accepted, value, s = take(opcode, stored, numbers, 1)
    if accepted then return accepted, value, s, true end
  end
  if is_block(stored) then return decide_block(KEYS[i], opcode, stored, extra) end
  return decide_leased(algorithms[algorithm], opcode, stored, numbers, extra)
end

local is_accepted = true
local before, decided, stored = {}, {}, {}
for i = 1, #KEYS do
  stored[i] = redis.call('GET', KEYS[i])
  local accepted, value, s, is_usual = decide_on(i, stored[i])
  decided[i] = {accepted = accepted, value = value, s = s, is_usual = is_usual}
  -- A longer value is not a state.
  local size = stored[i] and #stored[i] <= 9217 and #stored[i] or 0
  before[i] = struct.pack('>I2', size) .. (size > 0 and stored[i] or '')
  if accepted == '0' and string.sub(ARGV[2 * i + 1], 3, 3) == 'r' then is_accepted = false end
end
if op == 'T' then
  for i, key in ipairs(KEYS) do
    local value, s = decided[i].value, decided[i].s
    if not is_accepted and decided[i].accepted == '1' then
      -- Not charged, but its times from the future are corrected.
      value = nil
      if not decided[i].is_usual then value, s = select(2, decide_on(i, stored[i], 'N')) end
    end
    if value then store(key, value, s, is_accepted and '1' or '0') end
  end
end
return (is_accepted and '1' or '0') .. clock .. table.concat(before) .. mark
