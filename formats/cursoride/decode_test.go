package cursoride

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
	"rehome/schemas"
	"rehome/testdata/ide"
)

func TestMain(m *testing.M) { golden.Main(m) }

// told is what became of decoding one store.
type told struct {
	lines []string
	heads []session.Head
	notes []loss.Loss
	books loss.Log
	errs  []error
	tally session.Account
}

func decodeAt(t testing.TB, path string, sel session.Selection) *told {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	out := &told{}
	sel.Account = &session.SharedAccount{}
	v := formats.View{OnLoss: func(n loss.Loss) { out.notes = append(out.notes, n); out.books.Add(n) }, OnNotice: func(string) {}}
	for s, err := range Format().Sessions.Decode(t.Context(), l, v, sel) {
		if err != nil {
			out.errs = append(out.errs, err)
			continue
		}
		out.heads = append(out.heads, s.Head)
		out.lines = append(out.lines, string(session.AppendHead(nil, s)))
		ids := map[string]bool{}
		for m, err := range s.Messages {
			if err != nil {
				out.errs = append(out.errs, err)
				break
			}
			if m.ID == "" || ids[m.ID] {
				t.Errorf("message id %q is empty or not the only one", m.ID)
			}
			ids[m.ID] = true
			out.lines = append(out.lines, string(session.AppendMessage(nil, m)))
		}
		if s.Files == nil {
			continue
		}
		for f, err := range s.Files {
			if err != nil {
				out.errs = append(out.errs, err)
				break
			}
			out.lines = append(out.lines, string(session.AppendFile(nil, f)))
		}
	}
	out.tally = sel.Account.Total()
	return out
}

// build makes the user dir of a case.
func build(t testing.TB, script string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "User")
	if err := ide.Build(dir, script); err != nil {
		t.Fatal(err)
	}
	return dir
}

const cases = "../../testdata/ide/cases/"

// TestGolden holds each generation and each quirk against what is made of it.
// The table in doc.go says which fact each is of.
func TestGolden(t *testing.T) {
	list, err := filepath.Glob(cases + "*.sql")
	if err != nil || len(list) < 14 {
		t.Fatal("no cases", err)
	}
	for _, path := range list {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := build(t, string(script))
			out := decodeAt(t, dir, session.Selection{})
			text := out.ledger()
			golden.Bytes(t, "cursor-ide-to-canonical/"+name+".jsonl", text)
			if strings.Contains(string(text), "planted-token") {
				t.Error("a secret left the store")
			}
			judgeLines(t, out.lines)
			least, most := countRows(t, dir)
			if out.tally.Read < least || out.tally.Read > most || !out.tally.Balanced() {
				t.Errorf("%d to %d rows, %+v", least, most, out.tally)
			}
		})
	}
}

// TestHistory holds bubbles that no list names against the branches that are
// made of them, where they are wanted. The rest of the session is the same.
func TestHistory(t *testing.T) {
	script, err := os.ReadFile(cases + "history.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := build(t, string(script))
	plain, out := decodeAt(t, dir, session.Selection{}), decodeAt(t, dir, session.Selection{History: true})
	golden.Bytes(t, "cursor-ide-to-canonical/history-with.jsonl", out.ledger())
	judgeLines(t, out.lines)
	var live []string
	for _, l := range out.lines[1:] {
		if !strings.Contains(l, `"branch":`) {
			live = append(live, l)
		}
	}
	if !slices.Equal(live[:4], plain.lines[1:5]) || plain.tally.Superseded != 1 || plain.tally.Unreadable != 8 || out.tally.Superseded != 1 {
		t.Errorf("the live turns are %q, without their history %q; %+v, %+v", live, plain.lines[1:], plain.tally, out.tally)
	}
	for name, tally := range map[string]session.Account{"with": out.tally, "without": plain.tally} {
		if least, _ := countRows(t, dir); tally.Read != least || !tally.Balanced() {
			t.Errorf("%s history: %+v of %d rows", name, tally, least)
		}
	}
}

// TestInner: a subagent that lies in its parent's state comes with it, if that
// is said, and can be asked for by its name, however deep it lies.
func TestInner(t *testing.T) {
	script, err := os.ReadFile(cases + "subagents.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := build(t, string(script))
	for _, c := range []struct {
		sel  session.Selection
		want string
	}{
		{session.Selection{IDs: []string{"main"}}, "main"},
		{session.Selection{IDs: []string{"main"}, Inner: true}, "main kid-inline kid-ref kid-gone"},
		{session.Selection{IDs: []string{"grandkid"}}, "grandkid"},
		{session.Selection{IDs: []string{"bare", "kid-ref"}}, "bare kid-ref"},
		{session.Selection{IDs: []string{"kid-bare", "kid-ref"}, Inner: true}, "kid-bare grandkid kid-ref"},
		{session.Selection{IDs: []string{"nobody"}}, ""},
	} {
		out := decodeAt(t, dir, c.sel)
		var got []string
		for _, h := range out.heads {
			got = append(got, h.ID)
		}
		if strings.Join(got, " ") != c.want || len(out.errs) > 0 || !out.tally.Balanced() {
			t.Errorf("%v: %v, %v, %+v", c.sel, got, out.errs, out.tally)
		}
		for _, l := range out.lines {
			if whole := decodeAt(t, dir, session.Selection{}); !slices.Contains(whole.lines, l) {
				t.Errorf("%v: not what it is among all: %s", c.sel, l)
			}
		}
	}
}

func judgeLines(t testing.TB, lines []string) {
	t.Helper()
	judge, err := schemas.NewLines("canonical-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := judge.Validate([]byte(l)); err != nil {
			t.Errorf("%v\n%.2000s", err, l)
		}
	}
}

func (o *told) ledger() []byte {
	var text []byte
	for _, l := range o.lines {
		text = append(append(text, l...), '\n')
	}
	for _, l := range o.books.Groups() {
		text = fmt.Appendf(text, "# %s %s: %d at %s\n", l.Kind, l.Code, l.Count, strings.Join(l.Places, " "))
	}
	for _, err := range o.errs {
		text = fmt.Appendf(text, "# error %v\n", err)
	}
	return fmt.Appendf(text, "# %+v\n", o.tally)
}

// countRows counts the rows that belong to sessions, without our code: those
// that lie in shared families belong to one if something names them.
func countRows(t testing.TB, dir string) (least, most int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "state.vscdb"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(dir, "*", "*", "state.vscdb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		count := func(table, where string) (n int64) {
			var there int
			if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name=?", table).Scan(&there); err != nil {
				t.Fatal(err)
			}
			if there == 0 {
				return 0
			}
			if err := db.QueryRow("SELECT count(*) FROM " + table + " WHERE " + where).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		least += count("composerHeaders", "1")
		least += count("ItemTable", `key IN ('composer.composerData','composer.composerHeaders','workbench.panel.aichat.view.aichat.chatdata','workbench.panel.chat.view.chat.chatdata',
			'workbench.backgroundComposer.persistentData','workbench.backgroundComposer.workspacePersistentData','glass.cloudAgentProjects.v1','glass.localAgentProjectMembership.v1','aiService.prompts','aiService.generations')
			OR key LIKE 'workbench.panel.composerChatViewPane%' AND key NOT LIKE '%.hidden'`)
		least += count("cursorDiskKV", `key GLOB 'composerData:*' OR key GLOB 'bubbleId:*' OR key GLOB 'checkpointId:*' OR key GLOB 'messageRequestContext:*' OR key GLOB 'codeBlockDiff:*'
			OR key GLOB 'codeBlockPartialInlineDiffFates:*' OR key GLOB 'ofsContent:*' OR key GLOB 'agentKv:checkpoint:*' OR key GLOB 'agentKv:bubbleCheckpoint:*'`)
		most += count("cursorDiskKV", "key GLOB 'agentKv:blob:*' OR key GLOB 'composer.content.*'")
	}
	return least, least + most
}
