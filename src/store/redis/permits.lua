-- Takes, renews and gives back permits: how many run at once. Continues values.lua.
--
-- The server-side implementation of limit::HeldPermits; the differential test (tests/permits.rs) compares
-- the two.
--
-- KEYS[1]  the key of the permits
-- ARGV[1]  the opcode: A acquire, W renew, L release, G count, X reset
-- ARGV[3]  lifetime: seconds (5 bytes), nanoseconds (4), and in whole seconds as it is kept (4); the most permits (4); the id of the
--          permit (16)
-- Value    each permit that is held: the end of its lifetime, seconds (5) and nanoseconds (4); the lifetime, seconds (4); its id (16)
-- Reply    "1" (accepted) or "0", the server's seconds, " ", its microseconds, " ", how many are held now, the
--          mark

local ENTRY = 29
local key = KEYS[1]
local lifetime_s, lifetime_n, asked, max = struct.unpack('>I5I4I4I4', ARGV[3])
local id = string.sub(ARGV[3], 18)
local stored = redis.call('GET', key) or ''
if #stored % ENTRY ~= 0 then stored = '' end

-- The permits that are held, but for the one with this id. A lifetime that ends further off than it is long is of a clock that went
-- back: it begins now.
local others, own, last_s, changed = {}, nil, now_s, false
for at = 1, #stored, ENTRY do
  local s, n, most = struct.unpack('>I5I4I4', stored, at)
  if is_time(s, n) and (s > now_s or (s == now_s and n > now_n)) then
    local most_s = now_s + math.min(most, 126230400)
    if s > most_s or (s == most_s and n > now_n) then s, n, changed = most_s, now_n, true end
    local entry = struct.pack('>I5I4', s, n) .. string.sub(stored, at + 9, at + ENTRY - 1)
    if string.sub(entry, 14) == id then
      own = entry
    else
      others[#others + 1] = entry
      last_s = math.max(last_s, s)
    end
  else
    changed = true
  end
end

local function reply(accepted, count) return accepted .. clock .. string.format('%d', count) .. mark end
local held = #others + (own and 1 or 0)

if op == 'G' then return reply('1', held) end
if op == 'X' then
  if stored ~= '' then redis.call('DEL', key) end
  return reply('1', 0)
end
if op == 'L' then
  if own or changed then store(key, table.concat(others), last_s) end
  return reply(own and '1' or '0', #others)
end
if op == 'A' and own then return reply('1', held) end
if op == 'A' and held >= max or op == 'W' and not own then
  if changed then store(key, table.concat(others), last_s, '0') end
  return reply('0', held)
end

-- The lifetime begins now.
local s, n = now_s + lifetime_s, now_n + lifetime_n
if n >= 1e9 then s = s + 1; n = n - 1e9 end
others[#others + 1] = struct.pack('>I5I4I4', s, n, asked) .. id
store(key, table.concat(others), math.max(last_s, s))
return reply('1', #others)
