import { mock } from "node:test";
import { createStore } from "../lib/core.mjs";
import { memoryDriver, memoryState } from "../lib/memory.mjs";
import { rules } from "./rules.mjs";
import { silenced } from "./silenced.mjs";

mock.timers.enable({ apis: ["setInterval", "Date"], now: 1e12 });

rules("memory", async (at, options) => {
  at.state ??= memoryState();
  return silenced(memoryDriver(at.state), (driver) => createStore(driver, options));
}, async (ms) => {
  for (let left = ms; left > 0; left -= 50) {
    mock.timers.tick(50);
    await new Promise(setImmediate); // what the timers began
  }
});
