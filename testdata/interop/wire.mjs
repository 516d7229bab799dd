// The protobuf wire format, as much of it as the loopback backend needs, and
// the few agent.v1 messages of a conversation. Written by field number: the
// clients' generated classes are not used, so that a mistake of theirs cannot
// hide one of ours.
import { createHash } from "node:crypto";

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

function varint(value) {
  let left = BigInt.asUintN(64, BigInt(value));
  const out = [];
  for (; left > 127n; left >>= 7n) out.push(Number(left & 127n) | 128);
  out.push(Number(left));
  return Buffer.from(out);
}

// message takes [number, value] pairs. A number or boolean becomes a varint,
// text and bytes a length-delimited field, an array of pairs a sub-message.
// Pairs that are false or whose value is undefined are left out.
export function message(...fields) {
  const parts = [];
  for (const field of fields) {
    if (!field || field[1] === undefined) continue;
    const [number, value] = field;
    if (typeof value === "number" || typeof value === "boolean") {
      parts.push(varint(number << 3), varint(value));
      continue;
    }
    const body = Array.isArray(value) ? message(...value) : Buffer.from(value);
    parts.push(varint((number << 3) | 2), varint(body.length), body);
  }
  return Buffer.concat(parts);
}

// fields reads one level of a message.
export function fields(bytes) {
  const found = new Map();
  let at = 0;
  const number = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      if (at >= bytes.length || shift > 63n) throw new Error("protobuf: bad varint");
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (n) => {
    if (at + n > bytes.length) throw new Error("protobuf: a field runs past the end");
    at += n;
    return bytes.subarray(at - n, at);
  };
  while (at < bytes.length) {
    const tag = Number(number());
    const value = { 0: number, 1: () => take(8), 2: () => take(Number(number())), 5: () => take(4) }[tag & 7]?.();
    if (value === undefined) throw new Error(`protobuf: wire type ${tag & 7}`);
    if (!found.has(tag >> 3)) found.set(tag >> 3, []);
    found.get(tag >> 3).push(value);
  }
  return {
    has: (n) => found.has(n),
    numbers: () => [...found.keys()],
    values: () => [...found.values()].flat(),
    all: (n) => found.get(n) ?? [],
    bytes: (n) => found.get(n)?.at(-1),
    text: (n) => found.get(n)?.at(-1).toString("utf8") ?? "",
    number: (n) => Number(found.get(n)?.at(-1) ?? 0n),
    sub: (n) => fields(found.get(n)?.at(-1) ?? Buffer.alloc(0)),
  };
}

// What a checkpoint is made of. An id is the SHA-256 of the bytes it names.
export const userMessage = (text, id) => message([1, text], [2, id], [4, 1]);
export const saying = (text) => message([1, [[1, text]]]);
export const thinking = (text) => message([3, [[1, text], [2, 1234]]]);
export const toolStep = (call) => message([2, call]);
export const turn = (user, steps, request) => message([1, [[1, user], ...steps.map((id) => [2, id]), [3, request]]]);
export const todo = (id, content, status) => message([1, id], [2, content], [3, status]);
export const state = ({ prompts, turns, todos = [] }) =>
  message(...prompts.map((id) => [1, id]), ...todos.map((id) => [3, id]), [5, [[1, 120], [2, 200000]]], ...turns.map((id) => [8, id]), [10, 1]);

// A shell call: the arguments the client gets, and the call as a step records it.
export const shellArgs = (command, call) => message([1, command], [3, 30000], [4, call], [5, command.split(" ")[0]], [8, []], [12, 1], [13, 1], [15, "Say hi"]);
export const shellCall = (args, result, call) => message([1, [[1, args], result && [2, result]]], [57, call]);
export const shellDone = (command, stdout) => message([1, [[1, command], [5, stdout], [7, 7]]]);
