package cursoride

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
)

const kvSQL = "-- file: globalStorage/state.vscdb\nCREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);\n"

// chatSQL is a session with one bubble, of an SQL expression.
func chatSQL(bubble string) string {
	return kvSQL + `INSERT INTO cursorDiskKV VALUES ('composerData:c1','{"composerId":"c1","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2}]}'),
('bubbleId:c1:b1', ` + bubble + `), ('bubbleId:c1:b2','{"type":2,"bubbleId":"b2","text":"the answer is here"}');`
}

func (o *told) has(words string) bool { return strings.Contains(string(o.ledger()), words) }

// TestDeep: JSON that is nested ten thousand deep is one bubble that cannot be
// read, and no more.
func TestDeep(t *testing.T) {
	deep := "'{\"type\":1,\"x\":" + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}'"
	out := decodeAt(t, build(t, chatSQL(deep)), session.Selection{})
	if len(out.errs) > 0 || !out.has("# unreadable L307: 1 at globalStorage/state.vscdb/cursorDiskKV#2 (bubbleId:c1:b1)") || !out.has("the answer is here") || !out.tally.Balanced() {
		t.Errorf("%.2000s", out.ledger())
	}
	nested := `'{"type":1,"text":"","richText":"` + strings.Repeat(`{\"root\":{\"children\":[`, 10_000) + `"}'`
	if out := decodeAt(t, build(t, chatSQL(nested)), session.Selection{}); len(out.errs) > 0 || !out.has("the answer is here") {
		t.Errorf("%.2000s", out.ledger())
	}
}

// TestLarge: a bubble of 50 MB comes through whole; one that no line could hold
// is noted.
func TestLarge(t *testing.T) {
	out := decodeAt(t, build(t, chatSQL(`'{"type":1,"text":"'||hex(zeroblob(25000000))||'"}'`)), session.Selection{})
	if len(out.errs) > 0 || len(out.notes) > 0 || len(out.lines) != 3 || len(out.lines[1]) < 50_000_000 {
		t.Errorf("%d lines, %v, %v", len(out.lines), out.notes, out.errs)
	}
	out = decodeAt(t, build(t, chatSQL(`'{"type":1,"text":"'||hex(zeroblob(60000000))||'"}'`)), session.Selection{})
	if !out.has("# unreadable L308: 1") || !out.has("the answer is here") || !out.tally.Balanced() {
		t.Errorf("%.2000s", out.ledger())
	}
}

// TestCircles: sessions that name each other, or themselves, as parents and
// children come once each.
func TestCircles(t *testing.T) {
	script := kvSQL + `INSERT INTO cursorDiskKV VALUES
('composerData:a','{"composerId":"a","subagentComposerIds":["b","a"],"subComposerIds":["c"],"subagentInfo":{"parentComposerId":"c"}}'),
('composerData:b','{"composerId":"b","subagentComposerIds":["c"],"subagentInfo":{"parentComposerId":"a"}}'),
('composerData:c','{"composerId":"c","subagentComposerIds":["a"],"subagentInfo":{"parentComposerId":"b"}}'),
('composerData:s','{"composerId":"s","subagentComposerIds":["s"],"subagentInfo":{"parentComposerId":"s"}}');`
	out := decodeAt(t, build(t, script), session.Selection{})
	var ids []string
	for _, h := range out.heads {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"a", "b", "c", "s"}) || len(out.errs) > 0 || !out.tally.Balanced() {
		t.Errorf("%v, %s", ids, out.ledger())
	}
	if strings.Contains(strings.Join(out.lines, ""), `"children":[{"session":"s"`) {
		t.Error("a session is its own child")
	}
}

// TestChain: ten thousand sessions, each the child of the next.
func TestChain(t *testing.T) {
	var rows []string
	for i := range 10_000 {
		rows = append(rows, fmt.Sprintf(`('composerData:%05d','{"subagentInfo":{"parentComposerId":"%05d"}}')`, i, i+1))
	}
	out := decodeAt(t, build(t, kvSQL+"INSERT INTO cursorDiskKV VALUES "+strings.Join(rows, ",")), session.Selection{})
	if len(out.heads) != 10_000 || out.heads[0].ID != "09999" {
		t.Errorf("%d sessions, first %s", len(out.heads), out.heads[0].ID)
	}
}

// TestTruncated: a file that ends too early is an error that names it, or
// sessions with errors; never more.
func TestTruncated(t *testing.T) {
	script, err := os.ReadFile(cases + "bubbles.sql")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(build(t, string(script)), lists.GlobalDB))
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(whole); cut += 1024 {
		file := filepath.Join(t.TempDir(), lists.DbName)
		if err := os.WriteFile(file, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		out := decodeAt(t, file, session.Selection{})
		if len(out.errs) == 0 {
			t.Errorf("%d bytes of %d are taken for all", cut, len(whole))
		}
		for _, err := range out.errs {
			if e := (*formats.Error)(nil); !errors.As(err, &e) || e.At == "" {
				t.Errorf("%d bytes: %v says no place", cut, err)
			}
		}
	}
}

// TestScrambled: pages with other bytes in them bring errors and notes, not
// more.
func TestScrambled(t *testing.T) {
	script, err := os.ReadFile(cases + "tools.sql")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(build(t, string(script)), lists.GlobalDB))
	if err != nil {
		t.Fatal(err)
	}
	for at := 4096; at < len(whole); at += 397 {
		b := slices.Clone(whole)
		for i := at; i < min(at+16, len(b)); i++ {
			b[i] ^= 0x5a
		}
		file := filepath.Join(t.TempDir(), lists.DbName)
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		decodeAt(t, file, session.Selection{})
	}
}

// TestOne: of a session that is asked for by its id nothing else is read.
func TestOne(t *testing.T) {
	script, err := os.ReadFile(cases + "table.sql")
	if err != nil {
		t.Fatal(err)
	}
	out := decodeAt(t, build(t, string(script)), session.Selection{IDs: []string{"kid"}})
	if len(out.heads) != 1 || out.heads[0].ID != "kid" || out.tally.Read != 6+2 || !out.tally.Balanced() {
		t.Errorf("%v, %+v", out.heads, out.tally)
	}
}

// TestStopped: a consumer that has had enough, or a context that ends, leaves
// nothing running and nothing open.
func TestStopped(t *testing.T) {
	script, err := os.ReadFile(cases + "bubbles.sql")
	if err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(build(t, string(script)))
	if err != nil {
		t.Fatal(err)
	}
	v := formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}
	for n := range 12 {
		for s, err := range Format().Sessions.Decode(t.Context(), l, v, session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for range s.Messages {
				if i++; i > n {
					break
				}
			}
			for range s.Files {
				break
			}
			if n%2 == 0 {
				break
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for s, err := range Format().Sessions.Decode(ctx, l, v, session.Selection{}) {
		if last = err; s != nil && err == nil {
			cancel()
			for _, err := range s.Messages {
				last = err
			}
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled, and told %v", last)
	}
}

// TestWorkspaceAlone: of one workspace's folder, the sessions that belong to it
// are found in the global database beside it, and no others.
func TestWorkspaceAlone(t *testing.T) {
	script, err := os.ReadFile(cases + "heads.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := build(t, string(script)+`;
INSERT INTO cursorDiskKV VALUES ('composerData:elsewhere','{"composerId":"elsewhere","workspaceIdentifier":{"id":"other"}}'),
 ('composerData:here','{"composerId":"here","name":"Says so itself","workspaceIdentifier":{"id":"0123456789abcdef0123456789abcdef"}}');`)
	for _, path := range []string{"workspaceStorage/0123456789abcdef0123456789abcdef", "workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb"} {
		out := decodeAt(t, filepath.Join(dir, path), session.Selection{})
		if len(out.heads) != 2 || out.heads[0].ID != "c1" || out.heads[1].ID != "here" || out.heads[0].Workspace != `c:\Users\Ana\shop` || !out.has("The row wins.") {
			t.Errorf("%s: %s", path, out.ledger())
		}
	}
	out := decodeAt(t, filepath.Join(dir, lists.GlobalDB), session.Selection{})
	if len(out.heads) != 3 || out.heads[2].Workspace != `c:\Users\Ana\shop` {
		t.Errorf("the global database alone: %s", out.ledger())
	}
}

// TestLost: a session whose record is gone has its bubbles still, in a list or not.
func TestLost(t *testing.T) {
	dir := build(t, kvSQL+`INSERT INTO ItemTable VALUES ('composer.composerHeaders','{"allComposers":[{"composerId":"c1","name":"Found again"}]}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:z','{"type":1,"bubbleId":"z","text":"first"}'),('bubbleId:c1:a','{"type":2,"bubbleId":"a","text":"second"}'),
('bubbleId:nobody:x','{"type":1,"text":"in no list"}'),('checkpointId:nobody:x','{}'),('bubbleId:odd','{}'),('bubbleId:gone:x',NULL);`)
	out := decodeAt(t, dir, session.Selection{})
	if text := strings.Join(out.lines, "\n"); len(out.lines) != 5 || strings.Index(text, "first") > strings.Index(text, "second") || !out.has("# inferred L618: 2") || !out.has("in no list") {
		t.Errorf("%s", out.ledger())
	}
	if out.tally.Superseded != 2 || out.tally.Read != 7 || !out.tally.Balanced() {
		t.Errorf("%+v", out.tally)
	}
}

// TestNoDisk: a database of the first generation has ItemTable alone, or not
// even that.
func TestNoDisk(t *testing.T) {
	items := "-- file: globalStorage/state.vscdb\nCREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
	out := decodeAt(t, build(t, items+`INSERT INTO ItemTable VALUES ('composer.composerHeaders','{"allComposers":[{"composerId":"c1"}]}'),
('composer.composerData','{"allComposers":[{"composerId":"c2","conversation":[{"bubbleId":"b","type":1,"text":"inline"}]}]}');`), session.Selection{})
	if len(out.heads) != 2 || len(out.errs) > 0 || !out.has(`"text":"inline"`) || !out.tally.Balanced() {
		t.Errorf("%s", out.ledger())
	}
	out = decodeAt(t, build(t, "-- file: globalStorage/state.vscdb\nCREATE TABLE other (x);"), session.Selection{})
	if len(out.heads) != 0 || len(out.errs) > 0 {
		t.Errorf("%s", out.ledger())
	}
}

// TestHeads: what is listed is what is decoded; and nothing is said to be empty
// in which something was said.
func TestHeads(t *testing.T) {
	list, err := filepath.Glob(cases + "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := build(t, string(script))
		l, err := formats.Locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]session.Head{}
		talked, status := map[string]bool{}, map[string]string{}
		out := decodeAt(t, dir, session.Selection{})
		var last string
		for _, line := range out.lines {
			if strings.HasPrefix(line, `{"type":"session"`) {
				last = out.heads[len(want)].ID
				want[last] = out.heads[len(want)]
				_, rest, _ := strings.Cut(line, `,"status":"`)
				status[last], _, _ = strings.Cut(rest, `"`)
			} else if strings.Contains(line, `"role":"user"`) || strings.Contains(line, `"role":"assistant"`) {
				talked[last] = true
			}
		}
		for h, err := range Format().Sessions.Heads(t.Context(), l, formats.View{OnNotice: func(string) {}}) {
			if err != nil {
				t.Fatal(err)
			}
			w, ok := want[h.ID]
			if !ok || h.Title != "" && h.Title != w.Title || h.Workspace != "" && h.Workspace != w.Workspace || h.Turns == 0 && talked[h.ID] {
				t.Errorf("%s: listed %+v, decoded %+v", path, h, w)
			}
			mark := status[h.ID]
			if mark != "remote" && mark != "draft" && mark != "archived" && mark != "prompts" {
				mark = ""
			}
			if h.Mark != mark && (mark != "" || h.Mark != "best of n") {
				t.Errorf("%s: %s is listed as %q, and decoded as %q", path, h.ID, h.Mark, status[h.ID])
			}
			delete(want, h.ID)
		}
		for id := range want {
			inState := filepath.Base(path) == "subagents.sql" && want[id].Parent != nil // listing does not look there
			rest := filepath.Base(path) == "prompts.sql" && id == "global-prompts"      // and not at what is said elsewhere
			if id != "c4" && !inState && !rest {                                        // the record of c4 cannot be read
				t.Errorf("%s: %s is not listed", path, id)
			}
		}
	}
}
