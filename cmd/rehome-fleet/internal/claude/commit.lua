-- Moves staged lists to their places, after what is there has been moved to the backup.
-- ARGV: prefix, backup, stage, and for each session: project, session, time in ms, 1 to move what
-- is there, 1 for a transcript of its own, the number of subpaths, the subpaths.
local prefix, backup, stage = ARGV[1], ARGV[2], ARGV[3]

local function is(key, kind)
  local found = redis.call('TYPE', key).ok
  return found == 'none' or found == kind
end

local function move(from, to)
  if redis.call('EXISTS', from) == 1 then redis.call('RENAME', from, to) end
end

local function set_aside(base, project, session, lists)
  for _, sub in ipairs(redis.call('SMEMBERS', prefix .. base .. ':__subkeys')) do
    move(prefix .. base .. ':' .. sub, backup .. base .. ':' .. sub)
  end
  for _, list in ipairs(lists) do move(prefix .. list, backup .. list) end -- also those that no index names
  move(prefix .. base, backup .. base)
  move(prefix .. base .. ':__subkeys', backup .. base .. ':__subkeys')
  local index = project .. ':__sessions'
  local score = redis.call('ZSCORE', prefix .. index, session)
  redis.call('ZADD', backup .. index, score or 0, session)
  redis.call('ZREM', prefix .. index, session)
end

for pass = 1, 2 do -- the first one only checks, because a script that fails is not undone
  local i = 4
  while i <= #ARGV do
    local project, session, score, replace, own, n = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3] == '1', ARGV[i + 4] == '1', tonumber(ARGV[i + 5])
    local base = project .. ':' .. session
    local index, subkeys = prefix .. project .. ':__sessions', prefix .. base .. ':__subkeys'
    local lists = own and { base } or {}
    for j = 1, n do lists[#lists + 1] = base .. ':' .. ARGV[i + 5 + j] end
    if pass == 1 then
      if not is(index, 'zset') or not is(subkeys, 'set') then
        return redis.error_reply('WRONGTYPE an index of this layout is of another type')
      end
      if replace and redis.call('EXISTS', backup .. project .. ':__sessions') == 1 then
        return redis.error_reply('BUSY another run took the name of the backup')
      end
      if not replace and redis.call('EXISTS', prefix .. base, subkeys) > 0 then
        return redis.error_reply('BUSY a session was created meanwhile')
      end
      for _, list in ipairs(lists) do
        if redis.call('EXISTS', stage .. list) == 0 then return redis.error_reply('GONE a staged list has expired') end
        if not replace and redis.call('EXISTS', prefix .. list) == 1 then
          return redis.error_reply('BUSY a session was created meanwhile')
        end
      end
    else
      if replace then set_aside(base, project, session, lists) end
      for _, list in ipairs(lists) do
        redis.call('RENAME', stage .. list, prefix .. list)
        redis.call('PERSIST', prefix .. list)
      end
      for j = 1, n do redis.call('SADD', subkeys, ARGV[i + 5 + j]) end
      if own then redis.call('ZADD', index, score, session) end
    end
    i = i + 6 + n
  end
end
return 'OK'
