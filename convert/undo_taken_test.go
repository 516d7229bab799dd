package convert

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rehome/convert/internal/undo"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/internal/fsx"
)

// TestUndoTaken: lines that were appended to a rollout stay if Codex has them in its database,
// too: it would show what is gone.
func TestUndoTaken(t *testing.T) {
	const id = "0199aaaa-0000-7000-8000-000000000001"
	home := t.TempDir()
	file := filepath.Join(home, "sessions", "2026", "11", "22", "rollout-2026-11-22T10-00-00-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, file, "old\n")
	before, err := fsx.Digest(file)
	write(t, file, "old\nnew\n")
	after, e := fsx.Digest(file)
	folder := undo.Folder{Dir: filepath.Join(home, "undo")}
	log, e2 := folder.Begin(undo.Record{Format: "codex", Files: []undo.File{{Path: file, Size: 4, Before: before, After: after}}})
	if err := errors.Join(err, e, e2); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Save(nil), log.Close()); err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(home, "thread_history_1.sqlite")
	for _, c := range []struct {
		next int64
		want string
	}{{8, "old\nnew\n"}, {4, "old\n"}} {
		os.Remove(database)
		if err := graphgen.WriteDB(t.Context(), database, 1, []graphgen.Table{{
			Name: "thread_history_projection_state", Columns: []string{"thread_id", "next_rollout_byte_offset"},
			SQL:  "CREATE TABLE thread_history_projection_state (thread_id TEXT, next_rollout_byte_offset INTEGER)",
			Rows: [][]any{{"another", int64(99)}, {id, c.next}},
		}}); err != nil {
			t.Fatal(err)
		}
		done, err := Undo(t.Context(), all.Registry(), UndoOptions{Dir: folder.Dir})
		if err != nil || (len(done.Kept) > 0) != (c.next > 4) {
			t.Errorf("%d: %+v, %v", c.next, done, err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != c.want {
			t.Errorf("%d: %q, %v", c.next, b, err)
		}
	}
}
