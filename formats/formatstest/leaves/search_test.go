package leaves_test

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/formatstest/leaves"
)

// echoes is a walk over lines in which echoes are another telling, which no message names.
func echoes(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	return func(yield func(leaves.Record) bool) {
		for r := range leaves.Lines()(t, path, kinds) {
			if r.Kind == "echo" {
				r.At, r.Telling, r.Wide = "echoes:1", "echo", true
			}
			if !yield(r) {
				return
			}
		}
	}
}

// TestTellings: what another telling repeats is found again, but in each telling only once, and
// only where the right one says it.
func TestTellings(t *testing.T) {
	const echo = `{"type":"echo","text":"What is in the picture?"}` + "\n"
	declared := strings.Replace(declared0, "superseded The line repeats the prompt.\n\techo text by user text\n", "", 1)
	for text, want := range map[string]string{
		store0:        "",
		store0 + echo: `echoes:1: echo text: "What is in the picture?" is missing`,
		store0 + `{"type":"echo","text":"It could be a cat."}`: `echoes:1: echo text: "It could be a cat." is what thinking says`,
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		leaves.NewLaw(t, echoes, declared, nil).Holds(r, reader(""), path)
		if got := strings.TrimSpace(r.text.String()); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: want %q, got %q", text, want, got)
		}
	}
}

// TestShared: what is declared for several codecs holds for each, and is unused only if no
// store of any needs it.
func TestShared(t *testing.T) {
	const line = "secret The key opens everything.\n\tnoise key\n"
	shared := leaves.NewLaw(t, nil, "kinds type\n"+line+"dropped It is never there.\n\tnoise none\n", nil)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(store0), 0o666); err != nil {
		t.Fatal(err)
	}
	law, r := leaves.NewLaw(t, leaves.Lines(), strings.Replace(declared0, line, "", 1), shared), &recorder{TB: t}
	law.Holds(r, reader(""), path)
	if list := law.Unused(); r.text.Len() > 0 || len(list) > 0 || shared.Stores != 1 {
		t.Errorf("%s%q, %d stores", r.text.String(), list, shared.Stores)
	}
	if got := strings.Join(shared.Unused(), "\n"); got != "dropped noise none: no store has such a leaf" {
		t.Errorf("shared: %s", got)
	}
}

// TestTransforms: a leaf is found in each form that is declared.
func TestTransforms(t *testing.T) {
	for how, value := range map[string]string{
		"hex": `"68656c6c6f"`, "name": `"path"`, "is:7=12": "7", "time": "1767323045000",
	} {
		text := store0 + `{"type":"noise","key":"k","odd":` + value + "}\n"
		text = strings.Replace(text, `"image":"aGVsbG8=",`, "", 1)
		declared := strings.Replace(declared0, "derived base64 Images are bytes.\n\ttool image\n", "", 1)
		declared = strings.Replace(declared, "\ttool image\n", "", 1) + "derived " + how + " It is another form.\n\tnoise odd\n"
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		leaves.NewLaw(t, wide, declared, nil).Holds(r, reader(""), path)
		if got := r.text.String(); got != "" {
			t.Errorf("%s: %s", how, got)
		}
	}
}

// wide is a walk over lines in which noise is in any message.
func wide(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	return func(yield func(leaves.Record) bool) {
		for r := range leaves.Lines()(t, path, kinds) {
			if r.Kind == "noise" {
				r.Wide, r.Telling = true, "noise"
			}
			if !yield(r) {
				return
			}
		}
	}
}
