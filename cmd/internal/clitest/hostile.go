// Package clitest helps to test commands: with hostile text, a pipe as stdin, and whole folders.
package clitest

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
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

	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/convert/backup"
	"rehome/convert/sessions"
	"rehome/convert/watch"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Hostile holds one of each kind of character that acts instead of showing: C0,
// C1 and DEL, escape sequences of terminals, overrides of direction, separators
// of lines, tags, marks of byte order, invalid bytes; and what a
// build service takes for a command to itself.
const Hostile = "x\x1b]0;pwned\a\x1b[2J\x1b[31m\x1b]8;;http://h/\x1b\\ \x00\b\r\x7f\u0080\u009b31m\u0085\u202e\u2066\u200b\u2028\u2029\ufeff\U000e0041\xff\x9b ##[add-path]\n::error::y"

// Bare takes the colors of the program out.
func Bare(s string) string { return styleCodes.ReplaceAllString(s, "") }

var styleCodes = regexp.MustCompile(`\x1b\[(?:0|(?:[12349]|3[1-6]|38;5;\d+)(?:;(?:[349]|36))*)m`)

// Acts is what comes through of it; "" if nothing does.
func Acts(text string) string {
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			return "an invalid byte, in " + text[max(0, i-60):i]
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return string(r) + ", behind " + text[max(0, i-60):i]
		}
	}
	return ""
}

// CommandsIn counts the lines of a log that a build service would obey.
func CommandsIn(text string) (n int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "::") || strings.Contains(line, "##[") {
			n++
		}
	}
	return n
}

// Words are values that choose what is printed, by the name of their field.
type Words map[string]string

// Fill puts hostile text wherever text can be, two values in each list, and
// something behind each pointer.
func (w Words) Fill(v reflect.Value, name string, depth int) {
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
		v.Set(reflect.ValueOf(&sessions.Listing{Absent: []string{Hostile}}))
		return
	case loss.Code: // one that is in no table cannot be made
		v.Set(reflect.ValueOf(loss.ColumnForeign))
		return
	case map[string]string:
		v.Set(reflect.ValueOf(map[string]string{"column": Hostile}))
		return
	case store.Cell:
		v.Set(reflect.ValueOf(store.TextCell([]byte(Hostile))))
		return
	case session.Raw:
		v.SetBytes([]byte(`{"command":"` + strings.ReplaceAll(string(screen.JSON([]byte("\u202e\u2028\ufeff"))), `"`, ``) +
			`\u001b[2J\n::error::","content":"\u009b\u202e"}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		text := Hostile
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
		w.Fill(v.Elem(), name, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			w.Fill(v.Index(i), name, depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			w.Fill(v.Index(i), name, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.Fill(v.Field(i), v.Type().Field(i).Name, depth+1)
		}
	case reflect.Interface:
		switch v.Type() {
		case reflect.TypeFor[session.Part]():
			v.Set(reflect.ValueOf(&session.Text{Text: Hostile}))
		case reflect.TypeFor[error]():
			v.Set(reflect.ValueOf(error(&formats.Error{Op: Hostile, Format: Hostile, At: Hostile, Pointer: Hostile, Err: errors.New(Hostile),
				Hint: Hostile})))
		}
	}
}

// FillHostile puts hostile text into every field of a struct.
func FillHostile(v any) { Words{}.Fill(reflect.ValueOf(v).Elem(), "", 0) }

// choices are the words that decide which of its ways a renderer takes.
func choices() []Words {
	out := []Words{{}}
	for _, status := range []string{convert.Placed, convert.Checked, convert.Skipped, convert.Failed, convert.Same, convert.Updated, backup.Kept, backup.Older} {
		out = append(out, Words{"Status": status}, Words{"Status": status, "Lane": "session"})
	}
	out = append(out, Words{"Change": "added"}, Words{"Change": "removed"})
	for _, kind := range []watch.Kind{watch.Ready, watch.Session, watch.Store, watch.Kept, watch.Problem, watch.Recovered, watch.Polling} {
		out = append(out, Words{"Kind": string(kind)})
	}
	return out
}

// RenderedResult is what a command prints as text.
type RenderedResult interface{ Text(*screen.Page) }

// CheckResults renders results with hostile text in every field, as text and as JSON. None of the
// package in the current directory may be missing, but for those that are parts of others.
func CheckResults(t *testing.T, writeJSON func(io.Writer, any) error, results []RenderedResult, parts ...string) {
	t.Helper()
	known := parts
	for _, r := range results {
		typ := reflect.TypeOf(r)
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		known = append(known, typ.Name())
		for _, w := range choices() {
			checkResult(t, writeJSON, r, w)
		}
	}
	for _, d := range Functions(t, ".") {
		of, method, _ := strings.Cut(SpelledName(d), ".")
		if params := d.Type.Params.List; method != "Text" || len(params) != 1 || !isPage(params[0].Type) {
			continue
		}
		if !slices.Contains(known, of) {
			t.Errorf("%s is rendered and not tested", of)
		}
	}
}

func checkResult(t *testing.T, writeJSON func(io.Writer, any) error, r RenderedResult, w Words) {
	t.Helper()
	v := reflect.New(reflect.TypeOf(r)).Elem()
	v.Set(reflect.ValueOf(r))
	if v.Kind() == reflect.Pointer {
		w.Fill(v.Elem(), "", 0)
	} else {
		w.Fill(v, "", 0)
	}
	r = v.Interface().(RenderedResult)
	var text, doc bytes.Buffer
	r.Text(screen.NewPage(&text, false))
	if err := writeJSON(&doc, r); err != nil {
		t.Fatal(err)
	}
	if what := Acts(text.String()); what != "" || CommandsIn(text.String()) > 0 {
		t.Errorf("%T with %v as text: %q\n%.600q", r, w, what, text.String())
	}
	if what := Acts(doc.String()); what != "" {
		t.Errorf("%T as JSON: %q", r, what)
	}
}

// Functions are those of the program below a folder.
func Functions(t *testing.T, dir string) (out []*ast.FuncDecl) {
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

// SpelledName is a function's name behind that of its type.
func SpelledName(fn *ast.FuncDecl) string {
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
