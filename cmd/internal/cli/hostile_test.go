package cli

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
	"unsafe"

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
	"rehome/convert/watch"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
)

// hostile holds one of each kind of character that acts instead of showing: C0,
// C1 and DEL, escape sequences of terminals, overrides of direction, separators
// of lines, tags, marks of byte order, bytes that are no characters; and what a
// build service takes for a command to itself.
const hostile = "x\x1b]0;pwned\a\x1b[2J\x1b[31m\x1b]8;;http://h/\x1b\\ \x00\b\r\x7f\u0080\u009b31m\u0085\u202e\u2066\u200b\u2028\u2029\ufeff\U000e0041\xff\x9b ##[add-path]\n::error::y"

// bare takes the colors of the program out.
func bare(s string) string { return styleCodes.ReplaceAllString(s, "") }

var styleCodes = regexp.MustCompile(`\x1b\[(?:0|(?:[12349]|3[1-6]|38;5;\d+)(?:;(?:[349]|36))*)m`)

// acts is what comes through of it; "" if nothing does.
func acts(text string) string {
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			return "a byte that is no character, in " + text[max(0, i-60):i]
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return string(r) + ", behind " + text[max(0, i-60):i]
		}
	}
	return ""
}

// commands are the lines of a log that a build service would obey.
func commandsIn(text string) (n int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "::") || strings.Contains(line, "##[") {
			n++
		}
	}
	return n
}

// words are values that choose what is printed, by the name of their field.
type words map[string]string

// fill puts hostile text wherever text can be, two values in each list, and
// something behind each pointer.
func (w words) fill(v reflect.Value, name string, depth int) {
	if depth > 12 {
		return
	}
	if !v.CanSet() && v.CanAddr() { // a field of our own
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	switch v.Interface().(type) {
	case time.Time, *time.Location, session.Stamp:
		return
	case *sessions.Listing:
		v.Set(reflect.ValueOf(&sessions.Listing{Absent: []string{hostile}}))
		return
	case loss.Code: // one that is in no table cannot be made
		v.Set(reflect.ValueOf(loss.ColumnForeign))
		return
	case map[string]string:
		v.Set(reflect.ValueOf(map[string]string{"column": hostile}))
		return
	case store.Cell:
		v.Set(reflect.ValueOf(store.TextCell([]byte(hostile))))
		return
	case session.Raw:
		v.SetBytes([]byte(`{"command":"` + strings.ReplaceAll(string(screen.JSON([]byte("\u202e\u2028\ufeff"))), `"`, ``) +
			`\u001b[2J\n::error::","content":"\u009b\u202e"}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		text := hostile
		if word, ok := w[name]; ok {
			text = word
		}
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		w.fill(v.Elem(), name, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			w.fill(v.Index(i), name, depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			w.fill(v.Index(i), name, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.fill(v.Field(i), v.Type().Field(i).Name, depth+1)
		}
	case reflect.Interface:
		switch v.Type() {
		case reflect.TypeFor[session.Part]():
			v.Set(reflect.ValueOf(&session.Text{Text: hostile}))
		case reflect.TypeFor[error]():
			v.Set(reflect.ValueOf(error(&formats.Error{Op: hostile, Format: hostile, At: hostile, Pointer: hostile, Err: errors.New(hostile),
				Hint: hostile})))
		}
	}
}

// results are all that commands print as text or as JSON.
func results() []result {
	return []result{&lsResult{}, &searchResult{}, &exportResult{}, &migrateResult{}, convertResult{Report: &convert.Report{}},
		&detectResult{}, &doctorResult{}, &formatsResult{}, &schemaList{}, &versionResult{}, &demoResult{}, &ruleList{}, &ruleDetails{},
		backupResult{Report: &backup.Report{}}, restoreResult{Restored: &backup.Restored{}}, &scheduleResult{}, &snapshotList{}, watchEvent{},
		&welcomeResult{}, &continueResult{}, &undoResult{UndoReport: &convert.UndoReport{}}, &undoList{}, &gitResult{}, &repairResult{},
		&repairList{}, mergeResult{Result: &merge.Result{}}, &exactResult{}, &redactResult{}, &mvResult{Report: &mv.Report{}}}
}

// choices are the words that decide which of its ways a renderer takes.
func choices() []words {
	out := []words{{}}
	for _, status := range []string{convert.Placed, convert.Checked, convert.Skipped, convert.Failed, convert.Same, convert.Updated, backup.Kept, backup.Older} {
		out = append(out, words{"Status": status}, words{"Status": status, "Lane": "session"})
	}
	out = append(out, words{"Change": "added"}, words{"Change": "removed"})
	for _, kind := range []watch.Kind{watch.Ready, watch.Session, watch.Store, watch.Kept, watch.Problem, watch.Recovered, watch.Polling} {
		out = append(out, words{"Kind": string(kind)})
	}
	return out
}

// TestHostileResults renders every result with hostile text in every field.
func TestHostileResults(t *testing.T) {
	for _, w := range choices() {
		for _, r := range results() {
			v := reflect.New(reflect.TypeOf(r)).Elem()
			v.Set(reflect.ValueOf(r))
			if v.Kind() == reflect.Pointer {
				w.fill(v.Elem(), "", 0)
			} else {
				w.fill(v, "", 0)
			}
			r = v.Interface().(result)
			var text, doc bytes.Buffer
			r.Text(screen.NewPage(&text, false))
			if err := writeJSON(&doc, r); err != nil {
				t.Fatal(err)
			}
			if what := acts(text.String()); what != "" || commandsIn(text.String()) > 0 {
				t.Errorf("%T with %v as text: %q\n%.600q", r, w, what, text.String())
			}
			if what := acts(doc.String()); what != "" {
				t.Errorf("%T as JSON: %q", r, what)
			}
		}
	}
}

// TestHostileDiff renders a session that differs in everything, with hostile text in
// every field.
func TestHostileDiff(t *testing.T) {
	s := &diff.Session{}
	words{}.fill(reflect.ValueOf(s).Elem(), "", 0)
	for _, kind := range []diff.Kind{diff.Prompt, diff.Call, diff.File, hostile} {
		for i := range s.Changes {
			s.Changes[i].Before.Kind, s.Changes[i].After.Kind = kind, kind
		}
		var text, doc bytes.Buffer
		v := &diffView{cmd: &diffCmd{Thinking: true, All: true}, detail: prose.Full}
		p := &diffPage{Page: screen.NewPage(&text, false)}
		p.Line(v.title(s))
		v.session(s, p.put)
		if what := acts(text.String()); what != "" || commandsIn(text.String()) > 0 {
			t.Errorf("%q as text: %q\n%.600q", kind, what, text.String())
		}
		one, err := indented(newDiffSession(s), "")
		if doc.Write(one); err != nil || acts(doc.String()) != "" {
			t.Errorf("%q as JSON: %v, %q", kind, err, acts(doc.String()))
		}
	}
}

// TestEveryResult: no result is left out of results.
func TestEveryResult(t *testing.T) {
	var known []string
	for _, r := range results() {
		typ := reflect.TypeOf(r)
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		known = append(known, typ.Name())
	}
	inner := []string{"demoSDK", "demoMigrated"} // parts of a result
	for _, d := range functions(t, ".") {
		of, method, _ := strings.Cut(spelledName(d), ".")
		if params := d.Type.Params.List; method != "Text" || len(params) != 1 || !isPage(params[0].Type) {
			continue
		}
		if name := of; !slices.Contains(known, name) && !slices.Contains(inner, name) {
			t.Errorf("%s is rendered and not tested", name)
		}
	}
}

// functions are those of the program below a folder.
func functions(t *testing.T, dir string) (out []*ast.FuncDecl) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && filepath.Base(filepath.Dir(path)) != "screen" {
				out = append(out, fn)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// spelledName is a function's name behind that of its type.
func spelledName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name + "." + fn.Name.Name
}

func isPage(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Page"
}

// TestOneDoor: text becomes screen.Safe in package screen and nowhere else, and
// what goes to stdout or stderr goes through a page, through JSON, or is the
// program's own.
func TestOneDoor(t *testing.T) {
	streams := []string{"stdout", "stderr", "Stdout", "Stderr"}
	direct := []string{ // functions that may name a stream
		"main", "run", "newOutput", "output.printResult", "output.writeJSON", "output.printLine", "output.fail", "output.progress",
		"output.pagedOutput", "printEvent", "pager.start", // what is in front of all others
		"checkCmd.Run", "viewer.width", "viewer.pages", "output.terminalSize", "searchCmd.Run", "checkCmd.print", "lsCmd.Run", "doctorCmd.Run",
		"gitCmd.check", "welcome", "output.terminal", "replaceProcess", // that hand it on, or ask how wide it is
		"schemaCmd.Run", "completionCmd.Run", "completeCmd.Run", "manCmd.Run", "printHelp", // that print the program's own text
	}
	for _, fn := range functions(t, ".") {
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				sel, ok := x.Fun.(*ast.SelectorExpr)
				if !ok || len(x.Args) == 0 {
					break
				}
				pkg, _ := sel.X.(*ast.Ident)
				if _, constant := x.Args[0].(*ast.BasicLit); pkg != nil && pkg.Name == "screen" && sel.Sel.Name == "Safe" && !constant {
					t.Errorf("%s makes foreign text Safe by itself", spelledName(fn))
				}
			case *ast.SelectorExpr:
				if slices.Contains(streams, x.Sel.Name) && !slices.Contains(direct, spelledName(fn)) {
					t.Errorf("%s names %s", spelledName(fn), x.Sel.Name)
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
		words{}.fill(reflect.ValueOf(report).Elem(), "", 0)
		for i, s := range report.Stores {
			if i > 0 {
				s.Err = nil
			}
			for k := range s.Findings {
				s.Findings[k].Rule.Severity = level
			}
		}
		v := &verdict.Verdict{Report: report, FailOn: rule.Note, Notes: true, Version: hostile}
		forms := map[string]func(b *bytes.Buffer) error{
			"text":     func(b *bytes.Buffer) error { return v.Text(b, false) },
			"json":     func(b *bytes.Buffer) error { return writeJSON(b, v.Result([]string{hostile})) },
			"sarif":    func(b *bytes.Buffer) error { return writeJSON(b, v.SARIF("/")) },
			"junit":    func(b *bytes.Buffer) error { return v.JUnit(b, "/") },
			"github":   func(b *bytes.Buffer) error { return v.GitHub(b, "/") },
			"markdown": func(b *bytes.Buffer) error { return v.Markdown(b, "/") },
		}
		for form, print := range forms {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				t.Fatal(err)
			}
			if what := acts(b.String()); what != "" || b.Len() == 0 {
				t.Errorf("%s, %v: %q", form, level, what)
			}
			if n := commandsIn(b.String()); form == "text" && n > 0 || form == "github" && n != len(v.Stores)*2+len(v.Failed()) {
				t.Errorf("%s, %v: %d commands\n%s", form, level, n, b.String())
			}
		}
	}
}

// hostileSession is one with every kind of part.
func hostileSession(role session.Role) *session.Session {
	s := &session.Session{}
	words{}.fill(reflect.ValueOf(s).Elem(), "", 0)
	parts := []session.Part{&session.Text{}, &session.Injected{}, &session.Thinking{}, &session.ToolCall{}, &session.ToolResult{},
		&session.Media{}, &session.Summary{}, &session.Boundary{}, &session.Opaque{}}
	for _, p := range parts {
		words{}.fill(reflect.ValueOf(p).Elem(), "", 0)
	}
	lost := &session.ToolResult{}
	words{"Call": "lost"}.fill(reflect.ValueOf(lost).Elem(), "", 0)
	m := &session.Message{}
	words{}.fill(reflect.ValueOf(m).Elem(), "", 0)
	m.Role, m.Parts = role, append(parts, lost)
	s.Messages = func(yield func(*session.Message, error) bool) { yield(m, nil) }
	s.Files = func(yield func(*session.File, error) bool) {
		f := &session.File{}
		words{}.fill(reflect.ValueOf(f).Elem(), "", 0)
		yield(f, nil)
	}
	return s
}

// TestHostileSession shows a session in all its forms.
func TestHostileSession(t *testing.T) {
	for _, role := range []session.Role{session.System, session.User, session.Assistant, session.Tool, hostile} {
		for _, tools := range []prose.Detail{prose.None, prose.Brief, prose.Full} {
			o := prose.Options{Tools: tools, Thinking: true, Source: hostile, Width: 60}
			var text, markdown, lines bytes.Buffer
			if err := errors.Join(prose.Text(&text, hostileSession(role), o), prose.Markdown(&markdown, hostileSession(role), o),
				writeLines(&countingWriter{w: &lines}, hostileSession(role), false)); err != nil {
				t.Fatal(err)
			}
			for form, b := range map[string]*bytes.Buffer{"text": &text, "markdown": &markdown, "json": &lines} {
				if what := acts(b.String()); what != "" || b.Len() < 100 {
					t.Errorf("%s, %s, %q: %q", form, tools, role, what)
				}
			}
		}
	}
}

// TestHostileTalk: remarks, errors, hints, questions and the line of progress.
func TestHostileTalk(t *testing.T) {
	err := errors.Join(usageError{&formats.Error{At: hostile, Err: errors.New(hostile), Hint: hostile}}, errors.New(hostile),
		newAmbiguous((&app{reg: all.Registry()}), &sessions.Listing{}, hostile, hostile, []*sessions.Listed{
			{Head: session.Head{ID: hostile, Title: hostile, Workspace: hostile}, Sources: []sessions.Source{{Path: hostile}}},
			{Head: session.Head{ID: hostile, Title: hostile}, Sources: []sessions.Source{{Path: hostile}}},
		}))
	for _, asJSON := range []bool{false, true} {
		var stdout, stderr strings.Builder
		o := newOutput(&stdout, &stderr, func(string) string { return "" }, OutputFlags{JSON: asJSON})
		o.remark(hostile)
		o.fail(err)
		if what := acts(stdout.String() + stderr.String()); what != "" || commandsIn(stderr.String()) > 0 {
			t.Errorf("JSON %v: %q\n%s", asJSON, what, stderr.String())
		}
	}
	b := &bar{w: &strings.Builder{}, columns: func() int { return 500 }, now: time.Now}
	if what := acts(string(b.line(convert.Progress{Stage: hostile, Store: hostile, Stores: 3, StoresDone: 1}, time.Second))); what != "" {
		t.Errorf("progress: %q", what)
	}
}

// TestHostileCommandLine: what was typed comes back in errors.
func TestHostileCommandLine(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, args := range [][]string{
		{hostile}, {"convert", hostile, hostile}, {"convert", "x", "y", "--to", hostile}, {"show", hostile}, {"show", "a", "--turns", hostile},
		{"ls", hostile}, {"ls", "--agent", hostile}, {"ls", "--since", hostile},
		{"migrate", hostile}, {"check", hostile}, {"check", "--explain", hostile}, {"detect", hostile}, {"schema", hostile},
		{"completion", hostile}, {"--color", hostile}, {"ls", "--jobs", hostile},
	} {
		for _, more := range [][]string{nil, {"--json"}} {
			var stdout, stderr strings.Builder
			code := run(t.Context(), append(slices.Clone(args), more...), &stdout, &stderr, os.Getenv)
			if what := acts(stdout.String() + stderr.String()); what != "" || code == 0 {
				t.Errorf("%q: exit %d, %q", args, code, what)
			}
		}
	}
}
