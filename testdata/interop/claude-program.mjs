// How the real Claude Code is started: from the cache, with a home folder of its
// own, no network but the stand-in, and no setting of the user's.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

export const from = createRequire(path.join(process.env.REHOME_INTEROP_MODULES, "package.json"));

// The newer client is a program for each platform, the older one a script.
export function program(version) {
  if (version === "2.0.77") return [process.execPath, path.join(path.dirname(from.resolve("claude-code-2.0.77/package.json")), "cli.js")];
  const musl = process.report?.getReport().header.glibcVersionRuntime === undefined && process.platform === "linux" ? "-musl" : "";
  const dir = path.dirname(from.resolve(`@anthropic-ai/claude-code-${process.platform}-${process.arch}${musl}/package.json`));
  return [path.join(dir, process.platform === "win32" ? "claude.exe" : "claude")];
}

const key = "the-stand-in-takes-any-key";

export function environment(home, port) {
  const env = { HOME: home, USERPROFILE: home, CLAUDE_CONFIG_DIR: path.join(home, ".claude"), ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
  for (const name of ["PATH", "LANG", "TMPDIR", "SystemRoot"]) if (process.env[name]) env[name] = process.env[name];
  for (const name of ["DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX"]) env[name] = "1";
  // What node makes of the older client's script once, it need not make again.
  env.NODE_COMPILE_CACHE = path.join(process.env.REHOME_INTEROP_MODULES, "compiled");
  return env;
}

// settle answers beforehand what the client would ask a person at its first start.
export function settle(home, version, cwd) {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const settings = { hasCompletedOnboarding: true, lastOnboardingVersion: version, theme: "dark", autoUpdates: false, customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] }, projects: { [cwd]: project } };
  fs.mkdirSync(path.join(home, ".claude"), { recursive: true });
  fs.writeFileSync(path.join(home, ".claude", ".claude.json"), JSON.stringify(settings));
}
