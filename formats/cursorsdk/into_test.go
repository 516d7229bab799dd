package cursorsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/formatstest"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/store"
)

// memoryLog is a formats.UndoLog of a test.
type memoryLog struct {
	dir     string
	changes []byte
	fail    error
}

func (l *memoryLog) Dir() (string, error)     { return l.dir, nil }
func (l *memoryLog) Save(change []byte) error { l.changes = change; return l.fail }

// inUse copies a state root of testdata to where the SDK would look for it, and returns
// its path.
func inUse(t *testing.T, from string) string {
	t.Helper()
	root := layout.ProjectPath(t.TempDir(), "/w")
	if err := os.CopyFS(root, os.DirFS(filepath.Join("../../testdata/sdk", from))); err != nil {
		t.Fatal(err)
	}
	return root
}

// prepared returns a new state root with the sample agent, as rehome writes it: the
// statements change its rows.
func prepared(t *testing.T, statements ...string) string {
	t.Helper()
	l, err := formats.Locate(sampleProject(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(t.Context(), l, formats.View{Kind: formats.SDKDocuments})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	root := filepath.Join(t.TempDir(), "new")
	w, err := create(t.Context(), formats.Build{Path: root, Schema: r.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	formatstest.Fill(t, w, r)
	execute(t, filepath.Join(root, sdkstore.IndexName), append([]string{`UPDATE agents SET metadata_json='{"rehome":{"client":"test"}}'`}, statements...)...)
	return root
}

// cells returns every cell of a project by its address, the rows of one agent left out
// unless they are wanted, and what else the databases have.
func cells(t *testing.T, root string, all bool) (out map[string]string, rest []store.Database) {
	t.Helper()
	out = map[string]string{}
	l, err := formats.Locate(filepath.Dir(filepath.Dir(root)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(t.Context(), l, formats.View{Kind: formats.Tables})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, d := range r.Schema().Databases {
		if !all && strings.Contains(d.Path, sdkstore.HashOf(sampleAgent)) {
			continue
		}
		rest = append(rest, d)
	}
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		set := r.Schema().Sets[b.Set]
		for i := range b.Rows() {
			row, ours := "", strings.Contains(set.File, sampleAgent) || strings.Contains(set.File, sdkstore.HashOf(sampleAgent))
			for c := range b.Width() {
				cell := b.Cell(i, c)
				row += fmt.Sprintf("%v %x %x|", cell.Class, cell.Bits(), cell.Bytes())
				ours = ours || strings.Contains(string(cell.Bytes()), sampleAgent)
			}
			if all || !ours {
				out[fmt.Sprintf("%s/%s#%d %s", set.File, set.Name, b.RowID(i), filepath.Base(string(b.Cell(i, 0).Bytes())))] = row
			}
		}
	}
	return out, rest
}

func sameCells(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			t.Errorf("%s: %s was %q, is %q", what, k, want[k], got[k])
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %s is new", what, k)
		}
	}
}

// added adds a prepared root to another one.
func added(t *testing.T, from, to string, update bool, log formats.UndoLog) formats.Added {
	t.Helper()
	out, err := intoStore().Add(t.Context(), formats.Addition{From: from, To: to, Update: update, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func undone(t *testing.T, to string, log *memoryLog) []formats.Undone {
	t.Helper()
	out, err := intoStore().Undo(t.Context(), formats.UndoRecord{Store: to, Dir: log.dir, Changes: log.changes}, false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sessionsIn returns what the decoder reads of the sample agent in a project.
func sampleIn(t *testing.T, root string) string {
	t.Helper()
	lines := decoded(t, root).lines
	i := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "session "+sampleAgent) })
	if i < 0 {
		return ""
	}
	n := slices.IndexFunc(lines[i+1:], func(s string) bool { return strings.HasPrefix(s, "session ") })
	if n < 0 {
		n = len(lines) - i - 1
	}
	return strings.Join(lines[i:i+1+n], "\n")
}

// TestInto: an agent is added to stores of several versions, read, and taken out again,
// while every other cell stays as it was.
func TestInto(t *testing.T) {
	want := sampleIn(t, roots(t, sampleProject(t))[0])
	for _, from := range []string{"gen/sqlite", "legacy-1.0.14", "play/sqlite/projects/tmp-play-work/sdk-agent-store/8c37560ae74c932d947654aab2bb4124"} {
		t.Run(from, func(t *testing.T) {
			root := inUse(t, from)
			all, design := cells(t, root, true)
			log := &memoryLog{dir: t.TempDir()}
			got := added(t, prepared(t), root, false, log)
			if left := strings.Join(got.Left, " "); got.Was != formats.Absent || (left != "") != (from == "legacy-1.0.14") {
				t.Errorf("added %+v", got)
			}
			if text := sampleIn(t, root); text != want {
				t.Errorf("it reads\n%s\nwant\n%s", text, want)
			}
			others, now := cells(t, root, false)
			sameCells(t, "added", others, all)
			if !reflect.DeepEqual(now, design) {
				t.Errorf("the databases are %+v, were %+v", now, design)
			}
			if again := added(t, prepared(t), root, true, &memoryLog{fail: errors.New("asked")}); again.Was != formats.Same {
				t.Errorf("again %+v", again)
			}
			for _, u := range undone(t, root, log) {
				if u.Kept != "" {
					t.Errorf("kept %+v", u)
				}
			}
			restored, now := cells(t, root, true)
			sameCells(t, "undone", restored, all)
			if !reflect.DeepEqual(now, design) {
				t.Errorf("the databases are %+v, were %+v", now, design)
			}
			if out := undone(t, root, log); len(out) != 1 || out[0].Kept != "" {
				t.Errorf("undone twice: %+v", out)
			}
		})
	}
}

// TestIntoNothing: where the SDK has no store yet, it is created; undone, nothing is
// left of it.
func TestIntoNothing(t *testing.T) {
	home := t.TempDir()
	root := layout.ProjectPath(home, "/w")
	log := &memoryLog{dir: t.TempDir()}
	if got := added(t, prepared(t), root, false, log); got.Was != formats.Absent {
		t.Errorf("added %+v", got)
	}
	if want := sampleIn(t, roots(t, sampleProject(t))[0]); sampleIn(t, root) != want {
		t.Errorf("it reads\n%s\nwant\n%s", sampleIn(t, root), want)
	}
	if info, err := os.Stat(filepath.Dir(filepath.Join(root, sdkstore.StorePath(sampleAgent)))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder of the agent: %v, %v", info, err)
	}
	transcript := filepath.Join(filepath.Dir(filepath.Dir(root)), "agent-transcripts", sampleAgent, sampleAgent+".jsonl")
	if _, err := os.Stat(transcript); err != nil {
		t.Error(err)
	}
	if got := added(t, prepared(t), root, true, &memoryLog{fail: errors.New("asked")}); got.Was != formats.Same {
		t.Errorf("again %+v", got)
	}
	undone(t, root, log)
	if list, _ := os.ReadDir(filepath.Join(home, ".cursor", "projects")); len(list) != 0 {
		t.Errorf("left %v", list)
	}
}

// TestIntoUpdate: an older state is replaced only when asked; one that was continued,
// or that rehome did not write, never. Undone, the older one is back.
func TestIntoUpdate(t *testing.T) {
	root := inUse(t, "gen/sqlite")
	older := prepared(t, "UPDATE agents SET name='before'", "DELETE FROM run_events WHERE seq>3")
	execute(t, filepath.Join(older, sdkstore.StorePath(sampleAgent)), "DELETE FROM blobs WHERE rowid>3")
	added(t, older, root, false, &memoryLog{})
	execute(t, filepath.Join(root, sdkstore.IndexName), "INSERT INTO agents (agent_id, workspace_ref, status, created_at, updated_at) VALUES ('later', '/w', 'RUNNING', '', '')")
	before, _ := cells(t, root, true)
	log := &memoryLog{dir: t.TempDir()}
	if got := added(t, prepared(t), root, false, log); got.Was != formats.Older || log.changes != nil {
		t.Errorf("without Update: %+v", got)
	}
	if got := added(t, prepared(t), root, true, log); got.Was != formats.Older || log.changes == nil {
		t.Errorf("with Update: %+v", got)
	}
	if got := added(t, prepared(t), root, true, log); got.Was != formats.Same {
		t.Errorf("again: %+v", got)
	}
	undone(t, root, log)
	restored, _ := cells(t, root, true)
	sameCells(t, "undone", restored, before)

	index := filepath.Join(root, sdkstore.IndexName)
	for _, c := range []struct {
		want      formats.Standing
		statement string
	}{
		{formats.Continued, `INSERT INTO runs (run_id, agent_id, turn_number, status, created_at, updated_at) VALUES ('run-x', '` + sampleAgent + `', 99, 'FINISHED', '', '')`},
		{formats.Foreign, `UPDATE agents SET metadata_json='{}' WHERE agent_id='` + sampleAgent + `'`},
	} {
		execute(t, index, c.statement)
		before, _ := cells(t, root, true)
		if got := added(t, prepared(t), root, true, &memoryLog{fail: errors.New("asked")}); got.Was != c.want {
			t.Errorf("%s: %+v, want %s", c.statement, got, c.want)
		}
		after, _ := cells(t, root, true)
		sameCells(t, string(c.want), after, before)
		if out := undone(t, root, log); len(out) == 0 || out[0].Kept == "" {
			t.Errorf("%s: undone %+v", c.want, out)
		}
		after, _ = cells(t, root, true)
		sameCells(t, string(c.want), after, before)
	}
}

// TestIntoRefused: a store that cannot be written to stays as it is, and the error says
// why.
func TestIntoRefused(t *testing.T) {
	for _, c := range []struct{ name, statement, want string }{
		{"a trigger", "CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM agents; END", `trigger "evil" would change other rows`},
		{"a table is missing", "DROP TABLE run_events", "no table run_events"},
		{"a run of another agent", "UPDATE runs SET run_id=(SELECT 'RUN') WHERE rowid=1", "already belongs to agent"},
		{"a running agent of this id", "INSERT INTO agents (agent_id, workspace_ref, status, active_run_id, created_at, updated_at) VALUES ('" + sampleAgent + "', '/w', 'RUNNING', 'run-y', '', '')", "in use: agent " + sampleAgent + " is running (run run-y)"},
		{"a record that cannot be saved", "SELECT 1", "no space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, from := inUse(t, "gen/sqlite"), prepared(t)
			run := sampleRuns(t, from)[0]
			execute(t, filepath.Join(root, sdkstore.IndexName), strings.ReplaceAll(c.statement, "RUN'", run+"'"))
			before, _ := cells(t, root, true)
			_, err := intoStore().Add(t.Context(), formats.Addition{From: from, To: root, Log: &memoryLog{fail: errors.New("no space")}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			after, _ := cells(t, root, true)
			sameCells(t, c.name, after, before)
		})
	}
}

// sampleRuns returns the ids of the runs of a state root.
func sampleRuns(t *testing.T, root string) (ids []string) {
	t.Helper()
	r := openDoc(t, root)
	defer r.Close()
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			var run struct{ RunID, AgentID string }
			if json.Unmarshal(b.Cell(i, 0).Bytes(), &run) == nil && run.RunID != "" && run.AgentID != "" {
				ids = append(ids, run.RunID)
			}
		}
	}
	return ids
}
