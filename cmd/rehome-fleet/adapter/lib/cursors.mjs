// Pages: what a filter asks for, and where the next page begins.

export const wanted = (ids) => (ids && ids.length > 0 ? [...new Set(ids)] : null);
export const limited = (limit, usual) => (limit === undefined || limit === null ? usual : Math.max(0, Math.min(Math.trunc(Number(limit)) || 0, 1_000_000)));

const write = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function read(cursor, number, id) {
  if (cursor === undefined || cursor === null) return null;
  let value;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {}
  if (!Number.isFinite(value?.[number]) || typeof value[id] !== "string") throw new Error("invalid cursor");
  return value;
}

export const agentCursor = ({ updatedAt, agentId }) => write({ updatedAt, agentId });
export const runCursor = ({ turnNumber, runId }) => write({ turnNumber, runId });
export const readAgentCursor = (cursor) => read(cursor, "updatedAt", "agentId");
export const readRunCursor = (cursor) => read(cursor, "turnNumber", "runId");
