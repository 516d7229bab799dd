// What rehome lists of a home folder in which a real client has worked: its
// agents and nothing else, each once, wherever they are kept.
import { check, ls, same } from "./tools.mjs";

export function listed(version, source) {
  check(`SDK ${version}, listed where the client has put them`, () => {
    const { home, cwd, words, holds } = source();
    const { sessions, unread, hidden } = ls(home);
    same(unread, [], "something could not be read");
    same(hidden, { empty: 0, other: 0, older: 0, foreign: 0 }, "something is hidden");
    same(sessions.map(({ id }) => id).sort(), Object.keys(words).sort(), "other agents are listed");
    for (const { id, agent, title, project, turns, sources } of sessions) {
      const { name } = holds.agents.find(({ agentId }) => agentId === id);
      same({ agent, title, project, turns }, { agent: "cursor-sdk", title: name, project: cwd, turns: words[id].length }, id);
      same(sources.map(({ format }) => format), ["cursor-sdk", "cursor-transcript"], `${id}: the stores that hold it`);
    }
    return `${sessions.length} agents, each once, in its store and as a transcript`;
  });
}
