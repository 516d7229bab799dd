package mv_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/mv"
)

// TestHolds: an original stays if its copy has less than it had.
func TestHolds(t *testing.T) {
	h := newHome(t)
	at := ".claude/projects/-home-ann-app/"
	for _, id := range []string{one, two, other} {
		h.write(at+id+".jsonl", talk(id, h.old))
	}
	h.write(at+"memory/MEMORY.md", "learned\n")
	for _, s := range h.run(mv.Move, h.options()).Sessions {
		content, err := os.ReadFile(s.To)
		if err != nil {
			t.Fatal(err)
		}
		switch s.ID {
		case one:
			content = append(content, "\n"+`{"type":"user","uuid":"u9","parentUuid":"u3","sessionId":"`+one+`","message":{"role":"user","content":"more"}}`+"\n"...)
		case two:
			content, _, _ = bytes.Cut(content, []byte("\n"))
		case "":
			content = nil
		}
		if err := os.WriteFile(s.To, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := h.options()
	for _, o.DryRun = range []bool{true, false} {
		r := h.run(mv.Remove, o)
		want := one + ".jsonl removed, " + two + ".jsonl failed, " + other + ".jsonl removed, MEMORY.md failed"
		if o.DryRun {
			want = strings.ReplaceAll(want, "removed", "planned")
		}
		h.is(r, want)
		for _, s := range r.Sessions {
			if s.ID == two && (s.Err() == nil || !strings.Contains(s.Err().Error(), "fewer messages than the original: 1 of 4")) {
				t.Error(s.Err())
			}
		}
	}
	if h.read(at+two+".jsonl") != talk(two, h.old) || h.read(at+"memory/MEMORY.md") != "learned\n" {
		t.Error("removed what was the only copy")
	}
}

// TestRecordsBelieved: that a file was copied once does not make another one its copy, after
// a run that was killed before it came to it, or after it was undone.
func TestRecordsBelieved(t *testing.T) {
	for _, killed := range []bool{true, false} {
		h := newHome(t)
		at := ".claude/projects/-home-ann-app/"
		h.write(at+one+".jsonl", talk(one, h.old))
		h.write(at+"memory/MEMORY.md", "learned\n")
		var session, memory string
		for _, s := range h.run(mv.Move, h.options()).Sessions {
			if s.ID == one {
				session = s.To
			} else {
				memory = s.To
			}
		}
		if killed {
			record := filepath.Join(h.options().UndoDir, "1", "record.json")
			b, err := os.ReadFile(record)
			without := bytes.Replace(b, []byte(`"placed": true,`), nil, 1)
			if err != nil || len(without) == len(b) {
				t.Fatalf("%s %v", b, err)
			}
			if err := errors.Join(os.WriteFile(record, without, 0o600), os.Remove(memory)); err != nil {
				t.Fatal(err)
			}
		} else {
			if err := os.WriteFile(session, []byte(talk(one, h.now)+"\n{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if u := h.undo(); len(u.Kept) != 1 {
				t.Fatalf("%+v", u)
			}
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(memory), 0o700), os.WriteFile(memory, []byte("another\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		h.is(h.run(mv.Move, h.options()), one+".jsonl same, MEMORY.md failed")
		h.is(h.run(mv.Remove, h.options()), one+".jsonl removed")
		if h.read(at+"memory/MEMORY.md") != "learned\n" {
			t.Error("removed what was the only copy")
		}
		for range 2 {
			h.undo()
		}
		if h.read(at+one+".jsonl") != talk(one, h.old) {
			t.Error("not put back")
		}
	}
}
