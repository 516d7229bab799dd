// A bounded cache of blobs whose id is the SHA-256 of their bytes: they never change. The SDK lists
// an agent's blobs and then reads each of them, so a miss fetches those that were listed after it, too.
const maxFetch = 2000, maxFetchBytes = 8 << 20, maxListed = 200_000;
const addressed = /^[0-9a-f]{64}$/;

export class BlobCache {
  #max; #fetch; #bytes = 0;
  #blobs = new Map(); // by agent and blob, the oldest first
  #listed = new Map(); // by agent: its blobs in the order of the last list, with their sizes
  #pending = new Map();

  constructor(max, fetch) {
    this.#max = max;
    this.#fetch = fetch;
  }

  get bytes() {
    return this.#bytes;
  }

  #key(agentId, blobId) {
    return `${blobId}/${agentId}`;
  }

  // expect remembers a page of a list.
  expect(agentId, page) {
    if (this.#max === 0) return;
    const ids = this.#listed.get(agentId) ?? new Map();
    this.#listed.delete(agentId);
    this.#listed.set(agentId, ids);
    for (const { blobId, size } of page) if (addressed.test(blobId) && ids.size < maxListed) ids.set(blobId, size);
    while (this.#listed.size > 100 || (this.#listed.size > 1 && [...this.#listed.values()].reduce((n, one) => n + one.size, 0) > maxListed)) this.#listed.delete(this.#listed.keys().next().value);
  }

  // next are the blobs to fetch with one that is missing.
  #next(agentId, blobId) {
    const ids = [blobId], max = Math.min(maxFetchBytes, this.#max / 4);
    const listed = this.#listed.get(agentId);
    if (!listed?.has(blobId)) return ids;
    let bytes = listed.get(blobId), reached = false;
    for (const [id, size] of listed) {
      if (id === blobId) reached = true;
      else if (reached && !this.#blobs.has(this.#key(agentId, id)) && !this.#pending.has(this.#key(agentId, id))) {
        if (ids.length >= maxFetch || (bytes += size) > max) break;
        ids.push(id);
      }
    }
    return ids;
  }

  async get(agentId, blobId) {
    if (this.#max === 0 || !addressed.test(blobId)) {
      const bytes = (await this.#fetch(agentId, [blobId])).get(blobId);
      return bytes ? new Uint8Array(bytes) : null;
    }
    const key = this.#key(agentId, blobId), found = this.#blobs.get(key);
    if (found) {
      this.#blobs.delete(key);
      this.#blobs.set(key, found);
      return new Uint8Array(found);
    }
    const bytes = (await (this.#pending.get(key) ?? this.#page(agentId, this.#next(agentId, blobId)))).get(blobId);
    return bytes ? new Uint8Array(bytes) : null;
  }

  // page fetches blobs; whoever wants one of them meanwhile waits for it.
  async #page(agentId, ids) {
    const keys = ids.map((id) => this.#key(agentId, id)), page = this.#fetch(agentId, ids);
    for (const key of keys) this.#pending.set(key, page);
    try {
      for (const [id, bytes] of await page) if (this.#pending.get(this.#key(agentId, id)) === page) this.put(agentId, id, bytes);
    } finally {
      for (const key of keys) if (this.#pending.get(key) === page) this.#pending.delete(key);
    }
    return page;
  }

  // put keeps a copy of bytes, and forgets the oldest if there are too many.
  put(agentId, blobId, bytes) {
    if (!addressed.test(blobId) || bytes.length > this.#max / 4) return;
    const key = this.#key(agentId, blobId), old = this.#blobs.get(key);
    if (old) return;
    this.#blobs.set(key, Buffer.from(bytes));
    this.#bytes += bytes.length + key.length + 200;
    for (const [first, dropped] of this.#blobs) {
      if (this.#bytes <= this.#max) break;
      this.#blobs.delete(first);
      this.#bytes -= dropped.length + first.length + 200;
    }
  }

  // drop forgets the blobs of agents; null = of all.
  drop(agentIds) {
    if (agentIds === null) return this.clear();
    for (const agentId of [agentIds].flat()) {
      this.#listed.delete(agentId);
      for (const [key, bytes] of this.#blobs) {
        if (key.slice(65) !== agentId) continue;
        this.#blobs.delete(key);
        this.#bytes -= bytes.length + key.length + 200;
      }
      for (const key of this.#pending.keys()) if (key.slice(65) === agentId) this.#pending.delete(key);
    }
  }

  clear() {
    this.#blobs.clear();
    this.#listed.clear();
    this.#pending.clear();
    this.#bytes = 0;
  }
}
