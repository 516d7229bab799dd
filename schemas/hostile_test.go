package schemas

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The library must never see these: the first alone makes it panic.
func TestHostileDocuments(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ name, doc, want string }{
		{"huge exponent", `{"version":1e5000000}`, "byte 11: a number with an exponent beyond ±400"},
		{"exponent beyond int", `[1e99999999999999999999999]`, "byte 1: a number with an exponent beyond ±400"},
		{"tiny exponent", `[1E-5000000]`, "byte 1: a number with an exponent beyond ±400"},
		{"signed exponent", `[-1.5e+401]`, "byte 1: a number with an exponent beyond ±400"},
		{"long number", "[" + strings.Repeat("9", 1001) + "]", "byte 1: a number of more than 1000 characters"},
		{"deep", deep(513), "byte 512: nested deeper than 512"},
		{"very deep", strings.Repeat("[", 10_000_000), "byte 512: nested deeper than 512"},
		{"empty", " ", "byte 0: empty, where JSON should be"},
		{"torn", `{"a":[1,`, "the JSON is incomplete"},
		{"torn string", `{"a`, "the JSON is incomplete"},
		{"torn escape", `{"a\`, "the JSON is incomplete"},
		{"no JSON", `{secret}`, "byte 2: not valid JSON"},
		{"two values", `[1] [2]`, "byte 5: more text after the end of the JSON value"},
		{"misspelled number", `[1e]`, "byte 4: not valid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			err := Validate("archive-row-1", []byte(c.doc))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestBoundsAreNotTooNarrow(t *testing.T) {
	for _, doc := range []string{
		`[1e400]`, `[1e-400]`, `[` + strings.Repeat("9", 1000) + `]`,
		`["1e5000000 [[[[", {"text":{"-1e9999":"\"1e9999"}}]`,
		`[{"text":` + strings.Repeat("[", 510) + strings.Repeat("]", 510) + `}]`,
	} {
		if err := Validate("archive-row-1", []byte(doc)); err != nil {
			t.Errorf("%.40s: %v", doc, err)
		}
	}
}

// What stands in a document may be a secret: no error repeats it.
func TestErrorsRepeatNoValue(t *testing.T) {
	const secret = "hunter2"
	for _, c := range []struct{ schema, doc string }{
		{"archive-manifest-1", `{"rehome":"hunter2","version":"hunter2","origin":"Hunter2 hunter2","compress":"hunter2","databases":["hunter2"],"files":[{"path":"/hunter2","bytes":"hunter2","digest":"hunter2"}]}`},
		{"archive-row-1", `[true,{"real":"hunter2"},{"text":"hunter2"},{"blob64":"hunter2"},{"withheld":"hunter2"},["hunter2"]]`},
		{"archive-row-1", `"hunter2"`},
		{"archive-row-1", `["hunter2"`},
		{"archive-row-1", `["hunter2"] "hunter2"`},
		{"residue-1", `{"at":"hunter2","row":[{"int":"hunter2"}]}`},
		{"error-1", `{"error":"hunter2"}`},
	} {
		err := Validate(c.schema, []byte(c.doc))
		if err == nil {
			t.Errorf("%s: %s was accepted", c.schema, c.doc)
		} else if strings.Contains(strings.ToLower(err.Error()), secret) {
			t.Errorf("%s: the error repeats the document: %v", c.schema, err)
		}
	}
}

// Errors are printed on terminals: names of members are the document's too.
func TestErrorsAreSafeToPrint(t *testing.T) {
	doc := `{"error":{"message":"m","code":1,"\u001b[2J\u202e\nx":1}}`
	err := Validate("error-1", []byte(doc))
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e\n") {
		t.Errorf("got %q", err)
	}
	long := `{"` + strings.Repeat("a", 5000) + `":1}`
	if err := Validate("archive-section-1", []byte(long)); err == nil || len(err.Error()) > 600 {
		t.Errorf("got %d bytes of error", len(err.Error()))
	}
}

func TestCausesAreCounted(t *testing.T) {
	err := Validate("archive-row-1", []byte("["+strings.Repeat("true,", 99)+"true]"))
	if err == nil {
		t.Fatal("was accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[20] != "and 80 more" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// A schema that points elsewhere is refused, also where the elsewhere exists.
func TestRemoteReferencesDoNotCompile(t *testing.T) {
	local := filepath.Join(t.TempDir(), "there.json")
	if err := os.WriteFile(local, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"https://example.org/x.json", "http://127.0.0.1:1/x", "file://" + filepath.ToSlash(local), "urn:rehome:schema:error-1", "other.json"} {
		_, err := compile("urn:rehome:schema:test", `{"$ref":"`+ref+`"}`)
		if err == nil {
			t.Errorf("$ref %s: compiled", ref)
		}
	}
	if _, err := compile("urn:rehome:schema:test", `{"$ref":"#/$defs/a","$defs":{"a":true}}`); err != nil {
		t.Errorf("a reference inside the schema: %v", err)
	}
}

func TestLastGuard(t *testing.T) {
	s, err := compile("urn:rehome:schema:test", `{"type":"object"}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(s, struct{ not, json int }{}); err == nil {
		t.Error("a value that is no JSON was accepted")
	}
}

func TestConcurrentUse(t *testing.T) {
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for _, name := range Names() {
				if err := Validate(name, []byte("0")); err == nil {
					t.Errorf("%s accepts 0", name)
				}
			}
		})
	}
}

func FuzzValidate(f *testing.F) {
	good, _ := filepath.Glob(filepath.Join("testdata", "*", "*.json"))
	for _, g := range good {
		b, err := os.ReadFile(g)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, name := range Names() {
			if err := Validate(name, doc); err != nil && err.Error() == "the document cannot be held against its schema" {
				t.Errorf("%s: only the last guard held", name)
			}
		}
	})
}
