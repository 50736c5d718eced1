-- Keeps values. Continues head.lua.

-- Keeps a value that expires within second s, one to three seconds longer; forgets the key if the value is
-- empty. The clock of a test stands still, so its values stay an hour longer. A denial stands, also if the server refuses to store
-- what it changes.
local function store(key, value, s, accepted)
  local write = accepted == '0' and redis.pcall or redis.call
  if value == '' then return write('DEL', key) end
  local ttl = s - now_s + 2
  if is_frozen then ttl = ttl + 3600 end
  if ttl < 1 then ttl = 1 end
  write('SET', key, value, 'EX', ttl)
end
