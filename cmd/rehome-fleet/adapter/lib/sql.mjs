// The statements. $1, $2 … are described where they are not plain from the columns. Operands are cast to the
// types of an operator of PostgreSQL's own: otherwise one that others put into the search path may fit better.

// A process may write to an agent if it holds the newest fence ($fence), or has none and nobody else
// holds a lease that has not run out. The row stays locked until the statement is committed, so that
// no other process takes the lease in between. A statement that also changes that row locks it for
// that from the start: two that share it and then wait for each other would be a deadlock.
const guard = (s, { agent, owner, fence, lock = "no key update" }) => `
  mine as materialized (select 1 from ${s}.leases where agent_id = ${agent} and owner = ${owner} and fence = ${fence}::bigint for ${lock}),
  guard as materialized (select case when ${fence}::bigint is not null then exists (select from mine)
    else not exists (select from ${s}.leases where agent_id = ${agent} and owner <> ${owner} and until >= now()) end as ok)`;

const later = (ms) => `now() + ${ms}::double precision * interval '1 millisecond'`;
const past = "now() - interval '1 millisecond'";

export function statements(s) {
  return {
    tables: [
      ["agents", "ord, agent_id, cwd, updated_at, rev, doc"], ["runs", "ord, agent_id, run_id, turn_number, status, rev, doc"],
      ["run_events", "ord, run_id, seq, idempotency_key, doc"], ["checkpoints", "ord, agent_id, blob_id, data"],
      ["streams", "run_id, last_seq"], ["leases", "agent_id, owner, fence, until"], ["rehome", "name, digest, data"],
    ],

    agent: `select rev, doc::text as doc from ${s}.agents where agent_id = $1`,
    createAgent: `
with made as (insert into ${s}.agents (agent_id, cwd, updated_at, doc) values ($1, $2, $3, $4) on conflict do nothing returning 1)
select (select doc::text from ${s}.agents where agent_id = $1) as old, exists (select from made) as made`,
    updateAgent: `
with ${guard(s, { agent: "$1", owner: "$6", fence: "$7" })},
done as (update ${s}.agents set cwd = $2, updated_at = $3, doc = $4::json, rev = rev + 1
  where agent_id = $1 and ($5::bigint is null or rev = $5::bigint)
    and (($7::bigint is null and not $8::boolean) or (select ok from guard)) returning rev),
released as (update ${s}.leases set until = ${past} where agent_id = $1 and owner = $6 and $9::boolean and exists (select from done))
select (select rev from done) as new_rev, old.rev as old_rev, old.doc,
  ($7::bigint is null and not $8::boolean) or (select ok from guard) as allowed
from (select 1) as always left join (select rev, doc::text as doc from ${s}.agents where agent_id = $1) as old on true`,
    deleteAgents: `delete from ${s}.agents where ($1::text[] is null or agent_id = any($1)) and ($2::text is null or cwd = $2) returning agent_id`,
    cascade: [
      `delete from ${s}.run_events where run_id in (select run_id from ${s}.runs where agent_id = any($1::text[]))`,
      `delete from ${s}.streams where run_id in (select run_id from ${s}.runs where agent_id = any($1::text[]))`,
      ...["runs", "checkpoints", "leases"].map((table) => `delete from ${s}.${table} where agent_id = any($1::text[])`),
    ],
    agents: `
select agent_id, rev, doc::text as doc from ${s}.agents
where ($1::text is null or cwd = $1) and ($2::double precision is null or (coalesce(updated_at, 0), agent_id) < ($2, $3))
order by coalesce(updated_at, 0) desc, agent_id desc limit $4`,

    run: `select doc::text as doc from ${s}.runs where agent_id = $1 and run_id = $2`,
    // A turn that exists already is a unique violation, which also leaves the lease as it was.
    createRun: `
with agent as materialized (select 1 from ${s}.agents where agent_id = $1 for key share),
held as (insert into ${s}.leases as l (agent_id, owner, fence, until)
  select $1, $6, 1, ${later("$7")} where exists (select from agent) and not exists (select from ${s}.runs where run_id = $2)
  on conflict (agent_id) do update set owner = $6, until = excluded.until, fence = l.fence + case when l.owner = $6 then 0 else 1 end
  where l.owner = $6 or l.until < now() returning fence),
made as (insert into ${s}.runs (agent_id, run_id, turn_number, status, doc) select $1, $2, $3::double precision, $4, $5::json where exists (select from held) returning 1)
select (select fence from held) as fence, exists (select from made) as made`,
    createFirstRun: `
with agent as materialized (select 1 from ${s}.agents where agent_id = $1 for key share),
made as (insert into ${s}.runs (agent_id, run_id, turn_number, status, doc) select $1, $2, $3::double precision, $4, $5::json
  where exists (select from agent) and not exists (select from ${s}.runs where run_id = $2) returning 1)
select exists (select from made) as made`,
    whyNoRun: `
select exists (select from ${s}.agents where agent_id = $1) as agent, (select doc::text from ${s}.runs where run_id = $2 limit 1) as run,
  exists (select from ${s}.runs where agent_id = $1 and turn_number = $3) as turn, (select fence from ${s}.leases where agent_id = $1 and owner = $4) as fence`,
    // $7: the fence under which this process changed the run last; $9: whether the run goes on.
    updateRun: `
with held as (insert into ${s}.leases as l (agent_id, owner, fence, until)
  select $1, $6, 1, case when $9::boolean then ${later("$8")} else ${past} end where exists (select from ${s}.runs where agent_id = $1 and run_id = $2)
  on conflict (agent_id) do update set owner = $6, fence = l.fence + case when l.owner = $6 then 0 else 1 end,
    until = case when l.owner = $6 and not $9::boolean then l.until else excluded.until end
  where case when $7::bigint is null then l.owner = $6 or l.until < now() else l.owner = $6 and l.fence = $7::bigint end returning fence),
done as (update ${s}.runs set turn_number = $3::double precision, status = $4, doc = $5::json, rev = rev + 1
  where agent_id = $1 and run_id = $2 and exists (select from held) returning rev)
select (select rev from done) as rev, (select fence from held) as fence, exists (select from ${s}.runs where agent_id = $1 and run_id = $2) as known`,
    deleteRuns: `delete from ${s}.runs where ($1::text[] is null or agent_id = any($1)) and ($2::text[] is null or run_id = any($2)) returning run_id`,
    dropEvents: ["run_events", "streams"].map((table) => `delete from ${s}.${table} where $1::text[] is null or run_id = any($1)`),
    runs: `
select run_id, doc::text as doc from ${s}.runs where ($1::text[] is null or agent_id = any($1)) and ($2::text[] is null or run_id = any($2))
  and ($3::double precision is null or (coalesce(turn_number, 0), run_id) > ($3, $4))
order by coalesce(turn_number, 0), run_id limit $5`,

    // The number of an event is the counter of its run, in the row that the statement locks; $3 and
    // $4 are the text of the event before and after it; $9 is the agent, if this process ran it.
    append: `
with run as materialized (select coalesce((select agent_id from ${s}.runs where run_id = $1 limit 1), $9::text) as agent_id),
${guard(s, { agent: "(select agent_id from run)", owner: "$5", fence: "$6" })},
old as materialized (select doc from ${s}.run_events where run_id = $1 and idempotency_key = $2),
renewed as (update ${s}.leases set until = ${later("$7")} where $8::boolean and agent_id = (select agent_id from run) and owner = $5 and (select ok from guard)),
next as (insert into ${s}.streams as st (run_id, last_seq)
  select $1, coalesce((select max(seq) from ${s}.run_events where run_id = $1), 0) + 1 where not exists (select from old) and (select ok from guard)
  on conflict (run_id) do update set last_seq = greatest(st.last_seq + 1, excluded.last_seq) returning last_seq),
made as (insert into ${s}.run_events (run_id, seq, idempotency_key, doc)
  select $1, last_seq, $2, ($3::text || '"seq":' || last_seq::text || ',"offset":"' || last_seq::text || '"' || $4::text)::json from next returning doc)
select coalesce((select doc::text from old), (select doc::text from made)) as doc, exists (select from made) as made, (select ok from guard) as allowed`,
    events: `select doc::text as doc from ${s}.run_events where run_id = $1 and seq > $2 order by seq limit $3`,

    blobs: `select blob_id, data from ${s}.checkpoints where agent_id = $1 and blob_id = any($2::text[])`,
    putBlob: `
with ${guard(s, { agent: "$1", owner: "$4", fence: "$5", lock: "share" })},
made as (insert into ${s}.checkpoints (agent_id, blob_id, data) select $1, $2, $3::bytea where (select ok from guard) on conflict do nothing returning 1)
select exists (select from made) as made, (select ok from guard) as allowed, (select data = $3::bytea from ${s}.checkpoints where agent_id = $1 and blob_id = $2) as same`,
    blobIds: `
select blob_id, max(octet_length(data)) as size from ${s}.checkpoints
where ($1::text[] is null or agent_id = any($1)) and ($2::text[] is null or blob_id = any($2)) and ($3::text is null or blob_id > $3)
group by blob_id order by blob_id limit $4`,
    deleteBlobs: `delete from ${s}.checkpoints where ($1::text[] is null or agent_id = any($1)) and ($2::text[] is null or blob_id = any($2))`,

    // A delete waits for runs that begin, and they wait for the delete.
    lockAgents: `select from ${s}.agents where ($1::text[] is null or agent_id = any($1)) and ($2::text is null or cwd = $2) order by agent_id for update`,
    // Agents that a delete would meet while a process other than $1 runs them.
    leasedAgents: `
select l.agent_id from ${s}.leases l join ${s}.agents a using (agent_id)
where l.owner <> $1 and l.until >= now() and ($2::text[] is null or agent_id = any($2)) and ($3::text is null or cwd = $3) limit 1 for update of l`,
    leasedRuns: `
select l.agent_id from ${s}.leases l where l.owner <> $1 and l.until >= now() and ($2::text[] is null or l.agent_id = any($2))
  and exists (select from ${s}.runs r where r.agent_id = l.agent_id and ($3::text[] is null or run_id = any($3))) limit 1 for update`,
    leasedBlobs: `select agent_id from ${s}.leases where owner <> $1 and until >= now() and ($2::text[] is null or agent_id = any($2)) limit 1 for update`,

    // Rows of leases that were released stay, for their fences. $1 are the statuses of runs that are over.
    leases: `
select agent_id, owner, fence, extract(epoch from until)::float8 * 1000::float8 as until, until < now() as expired from ${s}.leases l
where until >= now() or exists (select from ${s}.runs r where r.agent_id = l.agent_id and r.status <> all($1::text[])) order by agent_id`,
    renew: `
update ${s}.leases l set until = ${later("$4")} from unnest($1::text[], $2::bigint[]) as mine(agent_id, fence)
where l.agent_id = mine.agent_id and l.fence = mine.fence and l.owner = $3 returning l.agent_id`,
    release: `
update ${s}.leases l set until = ${past} from unnest($1::text[], $2::bigint[]) as mine(agent_id, fence)
where l.agent_id = mine.agent_id and l.fence = mine.fence and l.owner = $3`,
  };
}
