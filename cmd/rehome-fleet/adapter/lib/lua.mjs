// The scripts of the Redis driver, on the keys that internal/redisdb describes. Each runs alone on the
// server. KEYS[1] is {STORE}:, which the names of all other keys start with; ids are only ever arguments.
// No list is compared with <, which follows the locale of the server: before compares bytes. A script that
// writes begins with a command that Redis refuses when its memory is full, unless it only deletes.
const helpers = `
local K, A = KEYS[1], ARGV
local function call(c, name, ...) return redis.call(c, K .. name, ...) end
local function esc(s) return (s:gsub('%%', '%%25'):gsub(':', '%%3A')) end
local function split(member)
  local agent, rest = member:match('^([^:]*):(.*)$')
  return (agent:gsub('%%3A', ':'):gsub('%%25', '%%')), rest
end
local function int(n) return string.format('%.0f', n) end
local function before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x < y end
  end
  return #a < #b
end
local function made(...) for _, name in ipairs({...}) do call('SADD', 'keys', name) end end
local function gone(...) for _, name in ipairs({...}) do if call('EXISTS', name) == 0 then call('SREM', 'keys', name) end end end
local function ord(set, member) call('ZADD', 'ord:' .. set, call('HINCRBY', 'meta', 'ord', 1), member) made('ord:' .. set) end

local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local function lease(agent)
  local v = call('HMGET', 'lease:' .. agent, 'owner', 'fence', 'until')
  return { owner = v[1], fence = tonumber(v[2]) or 0, till = tonumber(v[3]) or 0 }
end
local function foreign(agent, owner) local l = lease(agent) return l.owner and l.owner ~= owner and l.till > now end
-- A process may write to an agent if it holds the newest fence, or has none and nobody else runs the agent.
local function may(agent, owner, fence)
  if fence == '' then return not foreign(agent, owner) end
  local l = lease(agent)
  return l.owner == owner and l.fence == tonumber(fence)
end
local function extend(agent, till) call('HSET', 'lease:' .. agent, 'until', int(till)) end
local function acquire(agent, owner, fence, ms, active)
  if not may(agent, owner, fence) then return nil end
  local l = lease(agent)
  local mine = l.owner == owner
  if not mine then l.fence = l.fence + 1 end
  if active then l.till = now + ms elseif not mine then l.till = now - 1 end
  call('HSET', 'lease:' .. agent, 'owner', owner, 'fence', int(l.fence), 'until', int(l.till))
  call('SADD', 'leased', agent)
  made('lease:' .. agent, 'leased')
  return int(l.fence)
end

-- list reads a list of arguments, which its length comes before; -1 = no list.
local at = 1
local function arg() at = at + 1 return A[at - 1] end
local function list()
  local n, out, has = tonumber(arg()), {}, {}
  if n < 0 then return nil, nil end
  for i = 1, n do out[i] = arg() has[out[i]] = true end
  return out, has
end
local function dropEvents(run)
  repeat
    local part = call('ZPOPMIN', 'events:' .. run, 500)
    for i = 2, #part, 2 do call('ZREM', 'ord:events', int(tonumber(part[i])) .. ':' .. run) end
  until #part == 0
  call('DEL', 'idem:' .. run)
  call('HDEL', 'streams', run)
  gone('events:' .. run, 'idem:' .. run, 'streams', 'ord:events')
end
local function dropRun(agent, run)
  local member = esc(agent) .. ':' .. run
  call('DEL', 'run:' .. member)
  call('ZREM', 'runs:' .. agent, run)
  call('ZREM', 'ord:runs', member)
  if call('HGET', 'runagents', run) == agent then call('HDEL', 'runagents', run) end
  dropEvents(run)
  gone('run:' .. member, 'runs:' .. agent, 'ord:runs', 'runagents')
end
local function dropBlobs(agent, ids)
  for _, id in ipairs(ids or call('ZRANGE', 'blobids:' .. agent, 0, -1)) do
    call('ZREM', 'ord:blobs', esc(agent) .. ':' .. id)
    call('HDEL', 'blobs:' .. agent, id)
    call('ZREM', 'blobids:' .. agent, id)
  end
  gone('blobs:' .. agent, 'blobids:' .. agent, 'ord:blobs')
end
-- runsOf gives the runs of agents, or of all, that are among others, if those are given.
local function runsOf(agents, only)
  local out = {}
  if agents then
    for _, agent in ipairs(agents) do
      local all = call('ZRANGE', 'runs:' .. agent, 0, -1, 'WITHSCORES')
      for i = 1, #all, 2 do
        if not only or only[all[i]] then out[#out + 1] = { agent = agent, run = all[i], turn = tonumber(all[i + 1]) } end
      end
    end
  else
    for _, member in ipairs(call('ZRANGE', 'ord:runs', 0, -1)) do
      local agent, run = split(member)
      if not only or only[run] then out[#out + 1] = { agent = agent, run = run, turn = tonumber(call('ZSCORE', 'runs:' .. agent, run) or 0) } end
    end
  end
  return out
end
local function agentsOf(set)
  local out, has = {}, {}
  for _, member in ipairs(call('ZRANGE', 'ord:' .. set, 0, -1)) do
    local agent = split(member)
    if not has[agent] then has[agent] = true out[#out + 1] = agent end
  end
  return out
end
`;
const there = `if call('HGET', 'meta', 'layout') ~= '1' then return redis.error_reply('REHOME there is no store of layout 1 here; createSchema() makes one') end\n`;

const scripts = {
  agent: `return call('HMGET', 'agent:' .. A[1], 'doc', 'rev')`,
  createAgent: `
local id, at, doc = unpack(A)
local old = call('HGET', 'agent:' .. id, 'doc')
if old then return { old } end
call('HSET', 'agent:' .. id, 'doc', doc, 'rev', 1)
call('ZADD', 'agents', at, id)
ord('agents', id)
made('agent:' .. id, 'agents')
return {}`,
  updateAgent: `
local id, at, doc, rev, guarded, release, owner, fence = unpack(A)
local old = call('HMGET', 'agent:' .. id, 'doc', 'rev')
if not old[1] then return { 'missing' } end
if (guarded == '1' or fence ~= '') and not may(id, owner, fence) then return { 'fenced' } end
if rev ~= '' and rev ~= old[2] then return { 'conflict', old[2], old[1] } end
call('HSET', 'agent:' .. id, 'doc', doc)
call('ZADD', 'agents', at, id)
if release == '1' and lease(id).owner == owner then extend(id, now - 1) end
return { 'done', int(call('HINCRBY', 'agent:' .. id, 'rev', 1)) }`,
  // Arguments: the owner, and each agent with the revision that its document must have, or ''.
  deleteAgents: `
local deleted = {}
for i = 2, #A, 2 do
  local rev = call('HGET', 'agent:' .. A[i], 'rev')
  if rev then
    if A[i + 1] ~= '' and rev ~= A[i + 1] then return { 'again' } end
    if foreign(A[i], A[1]) then return { 'leased', A[i] } end
    deleted[#deleted + 1] = A[i]
  end
end
for _, id in ipairs(deleted) do
  for _, one in ipairs(runsOf({ id })) do dropRun(id, one.run) end
  dropBlobs(id)
  call('DEL', 'agent:' .. id, K .. 'lease:' .. id)
  call('ZREM', 'agents', id)
  call('ZREM', 'ord:agents', id)
  call('SREM', 'leased', id)
  gone('agent:' .. id, 'lease:' .. id)
end
gone('agents', 'ord:agents', 'leased')
table.insert(deleted, 1, 'done')
return deleted`,
  // A page of agents after a score and an id ('' = from the start).
  agents: `
local score, id, limit, out, from = A[1], A[2], tonumber(A[3]), {}, 0
repeat
  local part = call('ZREVRANGEBYSCORE', 'agents', score == '' and '+inf' or score, '-inf', 'WITHSCORES', 'LIMIT', from, 200)
  for i = 1, #part, 2 do
    if #out < limit * 4 and (score == '' or tonumber(part[i + 1]) ~= tonumber(score) or before(part[i], id)) then
      local v = call('HMGET', 'agent:' .. part[i], 'doc', 'rev')
      for _, one in ipairs({ part[i], part[i + 1], v[1] or '', v[2] or '' }) do out[#out + 1] = one end
    end
  end
  from = from + 200
until #part < 400 or #out >= limit * 4
return out`,

  run: `return call('HGET', 'run:' .. esc(A[1]) .. ':' .. A[2], 'doc')`,
  // Without an owner: the first run of an agent, which needs no lease.
  createRun: `
local agent, run, turn, status, doc, owner, ms = unpack(A)
if call('EXISTS', 'agent:' .. agent) == 0 then return { 'agent' } end
local of = call('HGET', 'runagents', run)
local old = call('HGET', 'run:' .. esc(of or agent) .. ':' .. run, 'doc')
if old then
  local l = lease(agent)
  return { 'run', old, l.owner == owner and int(l.fence) or '' }
end
if call('ZCOUNT', 'runs:' .. agent, turn, turn) > 0 then return { 'turn' } end
local fence = ''
if owner ~= '' then
  fence = acquire(agent, owner, '', tonumber(ms), true)
  if not fence then return { 'leased' } end
end
local member = esc(agent) .. ':' .. run
call('HSET', 'run:' .. member, 'doc', doc, 'rev', 1, 'status', status)
call('ZADD', 'runs:' .. agent, turn, run)
call('HSET', 'runagents', run, agent)
ord('runs', member)
made('run:' .. member, 'runs:' .. agent, 'runagents')
return { 'done', fence }`,
  updateRun: `
local agent, run, turn, status, doc, owner, fence, ms, active = unpack(A)
local name = 'run:' .. esc(agent) .. ':' .. run
if call('EXISTS', name) == 0 then return { 'missing' } end
if tonumber(call('ZSCORE', 'runs:' .. agent, run)) ~= tonumber(turn) and call('ZCOUNT', 'runs:' .. agent, turn, turn) > 0 then return { 'turn' } end
local held = acquire(agent, owner, fence, tonumber(ms), active == '1')
if not held then return { 'leased' } end
call('HSET', name, 'doc', doc, 'status', status)
call('HINCRBY', name, 'rev', 1)
call('ZADD', 'runs:' .. agent, turn, run)
return { 'done', held }`,
  deleteRuns: `
local owner = arg()
local agents = list()
local _, only = list()
local found = runsOf(agents, only)
for _, one in ipairs(found) do if foreign(one.agent, owner) then return { 'leased', one.agent } end end
for _, one in ipairs(found) do dropRun(one.agent, one.run) end
return { 'done' }`,
  runs: `
local limit, turn, id = tonumber(arg()), arg(), arg()
local agents = list()
local _, only = list()
local found, out = {}, {}
for _, one in ipairs(runsOf(agents, only)) do
  if turn == '' or one.turn > tonumber(turn) or one.turn == tonumber(turn) and before(id, one.run) then found[#found + 1] = one end
end
table.sort(found, function(a, b) if a.turn ~= b.turn then return a.turn < b.turn end return before(a.run, b.run) end)
for i = 1, math.min(limit, #found) do
  out[2 * i - 1], out[2 * i] = found[i].run, call('HGET', 'run:' .. esc(found[i].agent) .. ':' .. found[i].run, 'doc') or ''
end
return out`,

  // The text of an event is head, its number, and tail; agent is the one that this process ran it for.
  append: `
local run, key, head, tail, owner, fence, ms, renew, agent = unpack(A)
agent = call('HGET', 'runagents', run) or (agent ~= '' and agent)
if agent and not may(agent, owner, fence) then return { 'fenced' } end
local old = call('HGET', 'idem:' .. run, key)
local doc = old and call('ZRANGEBYSCORE', 'events:' .. run, old, old)[1]
local new = not doc
if new then
  local last = call('ZRANGE', 'events:' .. run, -1, -1, 'WITHSCORES')
  local seq = math.max(tonumber(call('HGET', 'streams', run) or 0), tonumber(last[2] or 0)) + 1
  if seq > 2 ^ 53 - 1 then return redis.error_reply('REHOME run ' .. run .. ' has no number left for another event') end
  seq = int(seq)
  doc = head .. '"seq":' .. seq .. ',"offset":"' .. seq .. '"' .. tail
  call('HSET', 'streams', run, seq)
  call('ZADD', 'events:' .. run, seq, doc)
  call('HSET', 'idem:' .. run, key, seq)
  ord('events', seq .. ':' .. run)
  made('streams', 'events:' .. run, 'idem:' .. run)
end
if agent and renew == '1' and lease(agent).owner == owner then extend(agent, now + tonumber(ms)) end
return { 'done', doc, new and 1 or 0 }`,
  events: `return call('ZRANGEBYSCORE', 'events:' .. A[1], '(' .. A[2], '+inf', 'LIMIT', 0, A[3])`,
  deleteEvents: `
local owner, runs = arg(), list()
if runs then
  for _, run in ipairs(runs) do
    local agent = call('HGET', 'runagents', run)
    if agent and foreign(agent, owner) then return { 'leased', agent } end
  end
else
  for _, agent in ipairs(call('SMEMBERS', 'leased')) do
    if foreign(agent, owner) and call('EXISTS', 'runs:' .. agent) == 1 then return { 'leased', agent } end
  end
end
for _, run in ipairs(runs or call('HKEYS', 'streams')) do dropEvents(run) end
return { 'done' }`,

  blobs: `return call('HMGET', 'blobs:' .. A[1], unpack(A, 2))`,
  putBlob: `
local agent, id, data, owner, fence = unpack(A)
if not may(agent, owner, fence) then return { 'fenced' } end
local old = call('HGET', 'blobs:' .. agent, id)
if old then return { old == data and 'same' or 'other' } end
call('HSET', 'blobs:' .. agent, id, data)
call('ZADD', 'blobids:' .. agent, 0, id)
ord('blobs', esc(agent) .. ':' .. id)
made('blobs:' .. agent, 'blobids:' .. agent)
return { 'same' }`,
  // Each id once, with its size.
  blobIds: `
local limit, after = tonumber(arg()), A[2] == '' and '-' or '(' .. A[3]
at = 4
local agents = list()
local _, only = list()
local sizes, ids, out = {}, {}, {}
for _, agent in ipairs(agents or agentsOf('blobs')) do
  for _, id in ipairs(call('ZRANGEBYLEX', 'blobids:' .. agent, after, '+', 'LIMIT', 0, only and -1 or limit)) do
    if not only or only[id] then
      if not sizes[id] then ids[#ids + 1] = id end
      sizes[id] = math.max(sizes[id] or 0, call('HSTRLEN', 'blobs:' .. agent, id))
    end
  end
end
if not agents or #agents > 1 then table.sort(ids, before) end
for i = 1, math.min(limit, #ids) do out[#out + 1] = ids[i] out[#out + 1] = int(sizes[ids[i]]) end
return out`,
  deleteBlobs: `
local owner, agents, ids = arg(), list(), list()
for _, agent in ipairs(agents or call('SMEMBERS', 'leased')) do if foreign(agent, owner) then return { 'leased', agent } end end
for _, agent in ipairs(agents or agentsOf('blobs')) do dropBlobs(agent, ids) end
return { 'done' }`,

  // Leases that were released stay, for their fences. The arguments are the statuses of runs that are over.
  leases: `
local _, over = list()
local out = {}
for _, agent in ipairs(call('SMEMBERS', 'leased')) do
  local l, going = lease(agent), false
  for _, one in ipairs(l.till > now and {} or runsOf({ agent })) do
    local status = call('HGET', 'run:' .. esc(agent) .. ':' .. one.run, 'status')
    if status and not over[status] then going = true end
  end
  if l.owner and (l.till > now or going) then
    for _, one in ipairs({ agent, l.owner, int(l.fence), int(l.till), l.till > now and '' or 'expired' }) do out[#out + 1] = one end
  end
end
return out`,
  // Arguments: the owner, until when from now, and each agent with its fence.
  renew: `
local kept = {}
for i = 3, #A, 2 do
  local l = lease(A[i])
  if l.owner == A[1] and l.fence == tonumber(A[i + 1]) then extend(A[i], now + tonumber(A[2])) kept[#kept + 1] = A[i] end
end
return kept`,

  // open fills in which agent each run belongs to, where the store was placed without it.
  open: `
if call('EXISTS', 'runagents') == 0 then
  for _, one in ipairs(runsOf()) do call('HSETNX', 'runagents', one.run, one.agent) made('runagents') end
end
return 'open'`,
};

const create = `
local layout = call('HGET', 'meta', 'layout')
local taken = 0
for _, name in ipairs({ 'meta', 'keys', 'agents', 'streams', 'runagents', 'leased', 'rehome', 'rehome:order', 'ord:agents', 'ord:runs', 'ord:events', 'ord:blobs' }) do
  taken = taken + call('EXISTS', name)
end
if taken == 0 then
  call('HSET', 'meta', 'layout', 1, 'ord', 0)
  made('meta')
elseif layout ~= '1' then
  return redis.error_reply('REHOME not a store of layout 1: ' .. (layout or 'another program uses these keys'))
end
return 'made'`;

export const lua = Object.freeze({ ...Object.fromEntries(Object.entries(scripts).map(([name, body]) => [name, helpers + there + body])), create: helpers + create });
