package cli

import (
	"bytes"
	"errors"
	"go/ast"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/console"
	"rehome/cmd/internal/prose"
	"rehome/cmd/internal/screen"
	"rehome/cmd/internal/verdict"
	"rehome/convert"
	"rehome/convert/backup"
	"rehome/convert/check"
	"rehome/convert/diff"
	"rehome/convert/merge"
	"rehome/convert/mv"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// results are all that commands print as text or as JSON.
func results() []clitest.RenderedResult {
	return []clitest.RenderedResult{&lsResult{}, &searchResult{}, &exportResult{}, &migrateResult{}, convertResult{Report: &convert.Report{}},
		&detectResult{}, &doctorResult{}, &formatsResult{}, &schemaList{}, &versionResult{}, &demoResult{}, &ruleList{}, &ruleDetails{},
		backupResult{Report: &backup.Report{}}, restoreResult{Restored: &backup.Restored{}}, &scheduleResult{}, &snapshotList{}, watchEvent{},
		&welcomeResult{}, &continueResult{}, &undoResult{UndoReport: &convert.UndoReport{}}, &undoList{}, &gitResult{}, &repairResult{},
		&repairList{}, mergeResult{Result: &merge.Result{}}, &exactResult{}, &redactResult{}, &mvResult{Report: &mv.Report{}}}
}

// TestHostileResults renders every result with hostile text in every field.
func TestHostileResults(t *testing.T) {
	clitest.CheckResults(t, console.WriteJSON, results(), "demoSDK", "demoMigrated")
}

// TestHostileDiff renders a session that differs in everything, with hostile text in
// every field.
func TestHostileDiff(t *testing.T) {
	s := &diff.Session{}
	clitest.FillHostile(s)
	for _, kind := range []diff.Kind{diff.Prompt, diff.Call, diff.File, clitest.Hostile} {
		for i := range s.Changes {
			s.Changes[i].Before.Kind, s.Changes[i].After.Kind = kind, kind
		}
		var text, doc bytes.Buffer
		v := &diffView{cmd: &diffCmd{Thinking: true, All: true}, detail: prose.Full}
		p := &diffPage{Page: screen.NewPage(&text, false)}
		p.Line(v.title(s))
		v.session(s, p.put)
		if what := clitest.Acts(text.String()); what != "" || clitest.CommandsIn(text.String()) > 0 {
			t.Errorf("%q as text: %q\n%.600q", kind, what, text.String())
		}
		one, err := indented(newDiffSession(s), "")
		if doc.Write(one); err != nil || clitest.Acts(doc.String()) != "" {
			t.Errorf("%q as JSON: %v, %q", kind, err, clitest.Acts(doc.String()))
		}
	}
}

// TestOneDoor: text becomes screen.Safe in package screen and nowhere else, and
// what goes to stdout or stderr goes through a page, through JSON, or is the
// program's own.
func TestOneDoor(t *testing.T) {
	streams := []string{"stdout", "stderr", "Stdout", "Stderr"}
	direct := []string{ // functions that may name a stream
		"main", "run", "NewOutput", "Output.Print", "Output.writeJSON", "Output.PrintLine", "Output.Fail", "Output.Progress",
		"Output.Paged", "Output.PrintEvent", "Pager.start", // what is in front of all others
		"checkCmd.Run", "viewer.width", "viewer.pages", "Output.TerminalSize", "searchCmd.Run", "checkCmd.print", "lsCmd.Run", "doctorCmd.Run",
		"gitCmd.check", "welcome", "Output.Terminal", "replaceProcess", // that hand it on, or ask how wide it is
		"schemaCmd.Run", "completionCmd.Run", "completeCmd.Run", "manCmd.Run", "printHelp", // that print the program's own text
	}
	for _, fn := range slices.Concat(clitest.Functions(t, "."), clitest.Functions(t, "../console")) {
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				sel, ok := x.Fun.(*ast.SelectorExpr)
				if !ok || len(x.Args) == 0 {
					break
				}
				pkg, _ := sel.X.(*ast.Ident)
				if _, constant := x.Args[0].(*ast.BasicLit); pkg != nil && pkg.Name == "screen" && sel.Sel.Name == "Safe" && !constant {
					t.Errorf("%s makes foreign text Safe by itself", clitest.SpelledName(fn))
				}
			case *ast.SelectorExpr:
				if slices.Contains(streams, x.Sel.Name) && !slices.Contains(direct, clitest.SpelledName(fn)) {
					t.Errorf("%s names %s", clitest.SpelledName(fn), x.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestHostileVerdict renders a verdict in all its forms.
func TestHostileVerdict(t *testing.T) {
	for _, level := range []rule.Severity{rule.Note, rule.Warning, rule.Error} {
		report := &check.Report{}
		clitest.FillHostile(report)
		for i, s := range report.Stores {
			if i > 0 {
				s.Err = nil
			}
			for k := range s.Findings {
				s.Findings[k].Rule.Severity = level
			}
		}
		v := &verdict.Verdict{Report: report, FailOn: rule.Note, Notes: true, Version: clitest.Hostile}
		forms := map[string]func(b *bytes.Buffer) error{
			"text":     func(b *bytes.Buffer) error { return v.Text(b, false) },
			"json":     func(b *bytes.Buffer) error { return console.WriteJSON(b, v.Result([]string{clitest.Hostile})) },
			"sarif":    func(b *bytes.Buffer) error { return console.WriteJSON(b, v.SARIF("/")) },
			"junit":    func(b *bytes.Buffer) error { return v.JUnit(b, "/") },
			"github":   func(b *bytes.Buffer) error { return v.GitHub(b, "/") },
			"markdown": func(b *bytes.Buffer) error { return v.Markdown(b, "/") },
		}
		for form, print := range forms {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				t.Fatal(err)
			}
			if what := clitest.Acts(b.String()); what != "" || b.Len() == 0 {
				t.Errorf("%s, %v: %q", form, level, what)
			}
			if n := clitest.CommandsIn(b.String()); form == "text" && n > 0 || form == "github" && n != len(v.Stores)*2+len(v.Failed()) {
				t.Errorf("%s, %v: %d commands\n%s", form, level, n, b.String())
			}
		}
	}
}

// hostileSession is one with every kind of part.
func hostileSession(role session.Role) *session.Session {
	s := &session.Session{}
	clitest.FillHostile(s)
	parts := []session.Part{&session.Text{}, &session.Injected{}, &session.Thinking{}, &session.ToolCall{}, &session.ToolResult{},
		&session.Media{}, &session.Summary{}, &session.Boundary{}, &session.Opaque{}}
	for _, p := range parts {
		clitest.FillHostile(p)
	}
	lost := &session.ToolResult{}
	clitest.Words{"Call": "lost"}.Fill(reflect.ValueOf(lost).Elem(), "", 0)
	m := &session.Message{}
	clitest.FillHostile(m)
	m.Role, m.Parts = role, append(parts, lost)
	s.Messages = func(yield func(*session.Message, error) bool) { yield(m, nil) }
	s.Files = func(yield func(*session.File, error) bool) {
		f := &session.File{}
		clitest.FillHostile(f)
		yield(f, nil)
	}
	return s
}

// TestHostileSession shows a session in all its forms.
func TestHostileSession(t *testing.T) {
	for _, role := range []session.Role{session.System, session.User, session.Assistant, session.Tool, clitest.Hostile} {
		for _, tools := range []prose.Detail{prose.None, prose.Brief, prose.Full} {
			o := prose.Options{Tools: tools, Thinking: true, Source: clitest.Hostile, Width: 60}
			var text, markdown, lines bytes.Buffer
			if err := errors.Join(prose.Text(&text, hostileSession(role), o), prose.Markdown(&markdown, hostileSession(role), o),
				writeLines(&countingWriter{w: &lines}, hostileSession(role), false)); err != nil {
				t.Fatal(err)
			}
			for form, b := range map[string]*bytes.Buffer{"text": &text, "markdown": &markdown, "json": &lines} {
				if what := clitest.Acts(b.String()); what != "" || b.Len() < 100 {
					t.Errorf("%s, %s, %q: %q", form, tools, role, what)
				}
			}
		}
	}
}

// TestHostileTalk: remarks, errors, hints and questions.
func TestHostileTalk(t *testing.T) {
	err := errors.Join(console.Usage(&formats.Error{At: clitest.Hostile, Err: errors.New(clitest.Hostile), Hint: clitest.Hostile}),
		errors.New(clitest.Hostile),
		newAmbiguous((&console.App{Reg: all.Registry()}), &sessions.Listing{}, clitest.Hostile, clitest.Hostile, []*sessions.Listed{
			{Head: session.Head{ID: clitest.Hostile, Title: clitest.Hostile, Workspace: clitest.Hostile},
				Sources: []sessions.Source{{Path: clitest.Hostile}}},
			{Head: session.Head{ID: clitest.Hostile, Title: clitest.Hostile}, Sources: []sessions.Source{{Path: clitest.Hostile}}},
		}))
	for _, asJSON := range []bool{false, true} {
		var stdout, stderr strings.Builder
		o := console.NewOutput(&stdout, &stderr, func(string) string { return "" }, console.OutputFlags{JSON: asJSON})
		o.Remark(clitest.Hostile)
		o.Fail(err)
		if what := clitest.Acts(stdout.String() + stderr.String()); what != "" || clitest.CommandsIn(stderr.String()) > 0 {
			t.Errorf("JSON %v: %q\n%s", asJSON, what, stderr.String())
		}
	}
}

// TestHostileCommandLine: what was typed comes back in errors.
func TestHostileCommandLine(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, args := range [][]string{
		{clitest.Hostile}, {"convert", clitest.Hostile, clitest.Hostile}, {"convert", "x", "y", "--to", clitest.Hostile},
		{"show", clitest.Hostile}, {"show", "a", "--turns", clitest.Hostile},
		{"ls", clitest.Hostile}, {"ls", "--agent", clitest.Hostile}, {"ls", "--since", clitest.Hostile},
		{"migrate", clitest.Hostile}, {"check", clitest.Hostile}, {"check", "--explain", clitest.Hostile}, {"detect", clitest.Hostile},
		{"schema", clitest.Hostile},
		{"completion", clitest.Hostile}, {"--color", clitest.Hostile}, {"ls", "--jobs", clitest.Hostile},
	} {
		for _, more := range [][]string{nil, {"--json"}} {
			var stdout, stderr strings.Builder
			code := run(t.Context(), append(slices.Clone(args), more...), &stdout, &stderr, os.Getenv)
			if what := clitest.Acts(stdout.String() + stderr.String()); what != "" || code == 0 {
				t.Errorf("%q: exit %d, %q", args, code, what)
			}
		}
	}
}
