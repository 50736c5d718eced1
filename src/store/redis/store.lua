-- Keeps values. Continues head.lua.

-- Keeps a value that expires within second s, one to three seconds longer; forgets the key if the value is
-- empty. The clock of a test stands still, so its values stay an hour longer.
local function store(key, value, s)
  if value == '' then return redis.call('DEL', key) end
  local ttl = s - now_s + 2
  if is_frozen then ttl = ttl + 3600 end
  if ttl < 1 then ttl = 1 end
  redis.call('SET', key, value, 'EX', ttl)
end
