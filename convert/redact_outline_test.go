package convert

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/formats/all"
)

// TestRedactNames refuses words that are also names in a format, and patterns that match
// everything: nobody could read the sessions.
func TestRedactNames(t *testing.T) {
	dir := t.TempDir()
	src := write(t, dir+"/in.jsonl", `{"type":"session","version":1,"id":"a","agent":"claude-code"}
{"type":"message","id":"m1","role":"user","parts":[{"type":"text","text":"say Acme"}]}
{"type":"message","id":"m2","role":"assistant","parts":[{"type":"thinking","text":"Acme","signature":"c2lnbmVk"}]}
`)
	for _, word := range []string{"text", "message", "assistant", "/.+/", "/[a-z]+/", "Acme"} {
		o := Options{Same: true, Redact: &Redaction{File: write(t, dir+"/words", word)}, State: NoState}
		_, err := Convert(t.Context(), all.Registry(), src, dir+"/out.jsonl", o)
		text, _ := os.ReadFile(dir + "/out.jsonl")
		if placed := strings.Count(string(text), "redacted-word-1") == 2; placed != (word == "Acme") || placed != (err == nil) {
			t.Errorf("%s: %v, %s", word, err, text)
		}
	}
}

// TestRedactPaths: stores whose paths differ only in a value stay apart, and the report does
// not have it.
func TestRedactPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ACME-1", "ACME-2"} {
		write(t, dir+"/in/"+name+"/a.jsonl", `{"type":"session","version":1,"id":"a","agent":"claude-code"}
{"type":"message","id":"m1","role":"user","parts":[{"type":"text","text":"in `+name+`"}]}
`)
	}
	rep, err := Convert(t.Context(), all.Registry(), dir+"/in", dir+"/out", Options{Same: true, Redact: &Redaction{File: write(t, dir+"/words", "/ACME-[0-9]/")}, State: NoState})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rep.Stores {
		if strings.Contains(rep.Stores[i].Place(), "ACME") {
			t.Error(rep.Stores[i].Place())
		}
	}
	for _, name := range []string{"redacted-pattern-1", "redacted-pattern-2"} {
		text, err := os.ReadFile(filepath.Join(dir, "out", name, "a.jsonl"))
		if err != nil || !strings.Contains(string(text), "in "+name) {
			t.Errorf("%v: %s", err, text)
		}
	}
}

// TestRedactInPlace: the client's own session is not what --redact can change, so migrate
// must not say that nothing is to be done.
func TestRedactInPlace(t *testing.T) {
	dir, id := t.TempDir(), "5d0b2b7e-0000-4000-8000-000000000001"
	cwd := dir + "/app"
	if err := os.Mkdir(cwd, 0o777); err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile(`[^0-9A-Za-z]`).ReplaceAllString(cwd, "-")
	src := write(t, dir+"/projects/"+folder+"/"+id+".jsonl", `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"59a4c6a2-9c09-4d62-bfb9-da78a703eaf1","timestamp":"2026-11-20T08:58:19.220Z","cwd":"`+cwd+`","sessionId":"`+id+`","version":"2.1.328"}
`)
	for _, o := range []*Redaction{nil, {}} {
		rep, err := Migrate(t.Context(), all.Registry(), []MigrateSource{{Path: src}}, MigrateOptions{To: "claude-code", Dir: dir, Redact: o})
		if err != nil || len(rep.Migrated) != 1 {
			t.Fatalf("%v: %+v", err, rep)
		}
		if one := rep.Migrated[0]; (one.Status == Same) != (o == nil) || (one.Error == nil) != (o == nil) {
			t.Errorf("%+v %+v", one, one.Error)
		}
	}
}
