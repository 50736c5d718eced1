-- Reads the value of the only key. Continues head.lua.
--
-- Reply    "1" (accepted) or "0" (denied), the server's seconds, " ", its microseconds, " ", the value
--          before the call, the mark; for P the "1" means nothing

local key = KEYS[1]
local stored = redis.call('GET', key)
local reply = clock .. (stored or '') .. mark
if op == 'P' then return '1' .. reply end
