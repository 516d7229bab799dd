package leaves

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// agentFiles are the files of lines, each after those that it refers to.
var agentFiles = [...]string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"}

// AgentLines returns a walk over agents of the Cursor SDK in files of lines. What is in a
// checkpoint is a record of its own.
func AgentLines() Walk { return agentLines(false) }

// WrittenLines is AgentLines for what was written: a blob is told as often as the state now refers to it.
func WrittenLines() Walk { return agentLines(true) }

func agentLines(again bool) Walk {
	return func(t testing.TB, path string, _ []string) iter.Seq[Record] {
		t.Helper()
		w := newAgents()
		w.again = again
		for _, name := range agentFiles {
			if !exists(filepath.Join(path, name)) {
				continue
			}
			n := 0
			for line := range bytes.Lines(read(t, filepath.Join(path, name))) {
				n++
				if doc, err := Parse(line); err == nil && doc.Kind == '{' {
					w.line(name, n, doc)
				}
			}
		}
		return slices.Values(append(w.all(), transcripts(t, path)...))
	}
}

// agents are the records of agents. Messages do not name their own rows, their runs and most
// events, so those are wide.
type agents struct {
	records []Record
	graphs  map[string]*graph
	roots   map[string][]string // of states, by agent
	now     map[string]string   // the root of the state now
	of      map[string]string   // agent by run
	calls   map[string]int      // events by run and call
	tries   map[string]int      // prompts by run
	again   bool                // see graph
}

func newAgents() *agents {
	return &agents{graphs: map[string]*graph{}, roots: map[string][]string{}, now: map[string]string{}, of: map[string]string{}, calls: map[string]int{}, tries: map[string]int{}}
}

func (w *agents) graph(agent string) *graph {
	if w.graphs[agent] == nil {
		w.graphs[agent] = newGraph(agent)
		w.graphs[agent].again = w.again
	}
	return w.graphs[agent]
}

func (w *agents) line(name string, n int, doc *Node) {
	agent, run := doc.text("agentId"), doc.text("runId")
	r := Record{At: fmt.Sprintf("%s:%d", name, n), Group: agent, Leaves: doc.Leaves(nil, ""), Wide: true}
	switch name {
	case "agents.ndjson":
		r.Kind = "agent -"
		w.now[agent] = cmp.Or(w.now[agent], doc.text("latestCheckpoint.rootBlobId"))
	case "runs.ndjson":
		r.Kind = "run -"
		w.of[run] = agent
		w.roots[agent] = append(w.roots[agent], doc.text("latestCheckpointRef.rootBlobId"), doc.text("startCheckpointRef.rootBlobId"))
	case "run_events.ndjson":
		w.event(&r, run, doc.At("payload"))
	case "checkpoints.ndjson":
		id := doc.text("blobId")
		if data, err := base64.StdEncoding.DecodeString(doc.text("dataBase64")); err == nil {
			w.graph(agent).add(id, fmt.Sprintf("%s (%.16s):%d", name, id, n), data)
		}
		return
	}
	w.records = append(w.records, r)
}

// text returns the text at a path, "" if there is none.
func (n *Node) text(path string) string {
	if at := n.At(path); at != nil && at.Kind == '"' {
		return at.Value
	}
	return ""
}

// event says what an event is. Each event of a call tells all that is known of it until then, so
// the first, the second and so on are tellings of their own. So is each try of a run: the client
// tells the prompt again.
func (w *agents) event(r *Record, run string, payload *Node) {
	r.Kind, r.Group, r.Telling = "event -", cmp.Or(w.of[run], run), "events"
	if payload == nil || payload.Kind != '{' {
		return
	}
	r.Kind = "event " + kindOf(payload, []string{"message.type|type"})
	if payload.text("message.type") == "user" {
		w.tries[run]++
	}
	r.Telling = fmt.Sprintf("events, try %d", w.tries[run])
	if call := payload.text("message.call_id"); call != "" {
		r.call = call
		w.calls[run+" "+call]++
		r.Telling = fmt.Sprintf("events, %d of a call", w.calls[run+" "+call])
	}
}

func (w *agents) all() []Record {
	out := w.records
	last := map[string]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		r := &out[i]
		if r.call == "" {
			continue
		}
		if g := w.graphs[r.Group]; last[r.Group+" "+r.call] {
			r.Kind = "event early_call" // the model is still writing it, or the tool works
		} else if g != nil && g.mentions(r.call) {
			r.Kind = "event known_call" // a state has the call, too
		}
		last[r.Group+" "+r.call] = true
	}
	for _, id := range slices.Sorted(maps.Keys(w.graphs)) {
		roots := slices.DeleteFunc(append([]string{w.now[id]}, w.roots[id]...), func(id string) bool { return id == "" })
		slices.Reverse(roots[min(1, len(roots)):])
		out = append(out, w.graphs[id].records(roots...)...)
	}
	return out
}

// AgentStore returns a walk over a state root of the Cursor SDK, or a folder of a project with one:
// the rows of the catalog, and the blobs of each agent.
func AgentStore() Walk { return agentStore(false) }

// WrittenStore is AgentStore for what was written, see WrittenLines.
func WrittenStore() Walk { return agentStore(true) }

func agentStore(again bool) Walk {
	return func(t testing.TB, path string, _ []string) iter.Seq[Record] {
		t.Helper()
		w := newAgents()
		w.again = again
		for _, at := range named(t, path, "index.db") {
			rows := database(t, at)
			for _, table := range []string{"agents", "runs", "run_events", ""} {
				for _, r := range rows {
					if r.table == table || table == "" && !slices.Contains([]string{"agents", "runs", "run_events"}, r.table) {
						w.row(r)
					}
				}
			}
			for _, store := range named(t, filepath.Dir(at), "store.db") {
				w.store(database(t, store), "store.db/", 16)
			}
		}
		return slices.Values(append(w.all(), transcripts(t, path)...))
	}
}

func (w *agents) row(r row) {
	agent, run := r.text("agent_id"), r.text("run_id")
	one := Record{At: fmt.Sprintf("index.db/%s#%d", r.table, r.id), Kind: r.table + " -", Group: agent, Leaves: r.leaves(), Wide: true}
	switch r.table {
	case "agents":
		one.Kind = "agent -"
		w.now[agent] = cmp.Or(w.now[agent], refOf(r.text("latest_checkpoint_ref_json")))
	case "runs":
		one.Kind = "run -"
		w.of[run] = agent
		w.roots[agent] = append(w.roots[agent], refOf(r.text("latest_checkpoint_ref_json")), refOf(r.text("start_checkpoint_ref_json")))
	case "run_events":
		payload, _ := Parse([]byte(r.text("payload_json")))
		w.event(&one, run, payload)
	}
	w.records = append(w.records, one)
}

func refOf(text string) string {
	if doc, err := Parse([]byte(text)); err == nil {
		return doc.text("blobId")
	}
	return ""
}

// Chat returns a walk over the store of a chat of the Cursor CLI, or its folder.
func Chat() Walk {
	return func(t testing.TB, path string, _ []string) iter.Seq[Record] {
		t.Helper()
		w, at := newAgents(), ""
		if inside := filepath.Join(path, "store.db"); exists(inside) {
			path, at = inside, "store.db/"
		}
		w.store(database(t, path), at, 12)
		if beside := filepath.Join(filepath.Dir(path), "meta.json"); exists(beside) {
			r := Record{At: "meta.json", Kind: "beside -", Telling: "beside", Wide: true}
			for id := range w.now {
				r.Group = id
			}
			if doc, err := Parse(read(t, beside)); err == nil {
				r.Leaves = doc.Leaves(nil, "")
			}
			w.records = append(w.records, r)
		}
		return slices.Values(w.all())
	}
}

// store takes the rows of the database of one agent. digits is how much of an id an address shows.
func (w *agents) store(rows []row, name string, digits int) {
	agent := ""
	for _, r := range rows {
		b, _ := hex.DecodeString(r.text("value"))
		if doc, err := Parse(b); r.table == "meta" && err == nil {
			agent = doc.text("agentId")
			w.now[agent] = cmp.Or(w.now[agent], doc.text("latestRootBlobId"))
		}
	}
	for _, r := range rows {
		at := fmt.Sprintf("%s%s#%d", name, r.table, r.id)
		if id := r.text("id"); r.table == "blobs" {
			w.graph(agent).add(id, fmt.Sprintf("%s (%.*s)", at, digits, id), []byte(r.text("data")))
			continue
		}
		w.records = append(w.records, Record{At: at, Kind: r.table + " -", Group: agent, Leaves: r.leaves(), Wide: true})
	}
}

// transcripts are the lines of transcripts below a folder.
func transcripts(t testing.TB, dir string) (out []Record) {
	for r := range Lines()(t, dir, []string{"role|type"}) {
		name, _, _ := strings.Cut(filepath.Base(r.At), ".jsonl:")
		r.Kind, r.Group, r.Telling, r.Wide = "transcript "+r.Kind, name, "transcript", true
		out = append(out, r)
	}
	return out
}

// named returns the files of a name below a folder.
func named(t testing.TB, dir, name string) (out []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == name && !d.IsDir() {
			out = append(out, at)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
