import type { LocalAgentStore, RunEventNotifier } from "@cursor/sdk";
import type { Redis, RedisOptions } from "ioredis";
import type { Pool, PoolConfig } from "pg";

export interface StoreOptions {
  /** How long a process may be silent before others may take over its agents, in ms. Default: 30,000. */
  leaseMs?: number;
  /** Max bytes of blobs kept in memory. Default: 64 MB; 0 turns the cache and prefetching off. */
  cacheBytes?: number;
}

/** The process that runs an agent, and until when. */
export interface AgentLease {
  agentId: string;
  /** Host, process id and a random id. */
  owner: string;
  /** Grows each time another process takes over the agent. */
  fence: number;
  /** Milliseconds since 1970, by the server's clock. */
  until: number;
  expired: boolean;
  /** Whether this store is the owner. */
  mine: boolean;
}

export interface AgentStore extends LocalAgentStore, AsyncDisposable {
  /** The name of this process in leases. */
  readonly owner: string;
  /** For `createAgentPlatform({ localStore, eventNotifier })`: wakes those that follow a run. */
  readonly notifier: RunEventNotifier;
  /** Creates the tables of PostgreSQL, or the store in Redis, if they are missing. Any number of processes may do so at once. */
  createSchema(): Promise<void>;
  leases(): Promise<AgentLease[]>;
  /** Ends the runs of processes whose lease has expired, and returns the ids of the agents freed. */
  expire(): Promise<string[]>;
  /** Waits for appends under way, releases the leases of this store, and closes the connections that it opened. */
  close(): Promise<void>;
}

export interface PostgresOptions extends StoreOptions {
  /** A URL or options of `pg`. Default: PGHOST, PGUSER, PGPASSFILE and the like. */
  connection?: string | PoolConfig;
  /** A pool of your own instead; close() leaves it open. It needs a listener for "error". */
  pool?: Pool;
  /** Default: `cursor_agents`. */
  schema?: string;
  /** How long a call waits for a server that is away, in ms. Default: 30,000. */
  retryMs?: number;
  /** How long a statement may take before its connection counts as lost, in ms. Default: 60,000. */
  answerMs?: number;
}

export function postgresAgentStore(options?: PostgresOptions): AgentStore;

export interface RedisStoreOptions extends StoreOptions {
  /** A URL or options of `ioredis`. Default: 127.0.0.1:6379; REDISCLI_AUTH is the password if this has none. */
  connection?: string | RedisOptions;
  /** A client of your own instead, whose options are used for new connections. No Cluster. */
  client?: Redis;
  /** The name that all keys start with, as `{NAME}:`. It has no braces and no control characters. */
  store: string;
  /** Use a server that does not report (`CONFIG GET`) whether it keeps what it is given. */
  durable?: "trusted";
  /** How long a call waits for a server that is away, in ms. Default: 30,000. */
  retryMs?: number;
}

export function redisAgentStore(options: RedisStoreOptions): AgentStore;

/** A store in the memory of this process, for tests. */
export function memoryAgentStore(options?: StoreOptions): AgentStore;
