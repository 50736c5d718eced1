-- What hosts hold of a state (limit/leased.rs). Continues values.lua. It stands behind the state: a name (4 bytes), and how much, in hits or in
-- seconds and nanoseconds (4 each; of hits the thousand millions and the rest).
--
-- extra    for L and G: the name that the host knows (4 bytes); the name that the state gets if it has none (4); how much of what the host
--          held it holds no more, in the form above (8); then for L what U has
--
-- Decides by `decide` on such a state, or on a call that is about what hosts hold. Returns what that returns.
local function decide_leased(decide, op, stored, numbers, extra)
  local size, before = stored and #stored or 0, ''
  local name, held_s, held_n
  if size >= 24 and size <= 27 or size == 30 then
    before, stored = string.sub(stored, -12), string.sub(stored, 1, -13)
    local s, n = struct.unpack('>I5I4', stored)
    if is_time(s, n) and (size == 27 or s > now_s or (s == now_s and n >= now_n)) then
      name, held_s, held_n = struct.unpack('>c4I4I4', before)
    else
      before = ''
    end
  end
  local is_lease = op == 'L'
  if is_lease or op == 'G' then
    local known, fresh, s, n = struct.unpack('>c4c4I4I4', extra)
    if name == known then
      held_s, held_n = held_s - s, held_n - n
      if held_n < 0 then held_s, held_n = held_s - 1, held_n + 1e9 end
      if held_s < 0 then held_s, held_n = 0, 0 end
    elseif not is_lease then
      return '0'
    end
    if not name then name, held_s, held_n = fresh, 0, 0 end
    op, extra = is_lease and 'U' or 'F', is_lease and string.sub(extra, 17) or nil
  end
  if not name then return decide(op, stored, numbers, extra) end
  local accepted, value, s, more = decide(op, stored, numbers, extra, {held_s, held_n, 0})
  if not value or value == '' or op == 'X' then return accepted, value, s end
  if accepted == '0' then return accepted, value .. before, s end
  if is_lease then held_s, held_n = held_s + more[1], held_n + more[2] end
  if held_n >= 1e9 then held_s, held_n = held_s + 1, held_n - 1e9 end
  if held_s >= 4294967295 then held_s, held_n = 4294967295, 0 end
  return accepted, value .. struct.pack('>c4I4I4', name, held_s, held_n), s
end
