export { memoryAgentStore } from "./lib/memory.mjs";
export { postgresAgentStore } from "./lib/postgres.mjs";
export { redisAgentStore } from "./lib/redis.mjs";
