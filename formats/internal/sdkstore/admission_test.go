package sdkstore

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

func textCell(s string) store.Cell { return store.TextCell([]byte(s)) }

func eventRow(run string, seq int64, offset string, key store.Cell) []store.Cell {
	return []store.Cell{textCell(run), store.IntCell(seq), textCell(offset), textCell("e"), textCell("null"), {}, key, textCell("t")}
}

// The books of admission against plain sets of keys.
func TestAdmission(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a := newAdmission()
		seqs, offsets, keys := map[string]bool{}, map[string]bool{}, map[string]bool{}
		taken := 0
		for range 100 {
			run, seq := "r"+strconv.Itoa(r.IntN(2)), r.Int64N(40)
			if r.IntN(3) > 0 {
				seq = int64(taken)
			}
			offset, k := strconv.FormatInt(seq, 10), store.NullCell()
			if r.IntN(10) == 0 {
				offset = "0" + offset
			}
			id := ""
			if r.IntN(5) == 0 {
				id = strconv.Itoa(r.IntN(20))
				k = textCell(id)
			}
			s, o, i := run+"#"+strconv.FormatInt(seq, 10), run+"#"+offset, run+"#"+id
			want := !seqs[s] && !offsets[o] && (id == "" || !keys[i])
			if got := a.admit(sdkdoc.Event, eventRow(run, seq, offset, k)); got != want {
				t.Fatalf("%s offset %s key %q: admitted %v, want %v", s, offset, id, got, want)
			}
			if want {
				seqs[s], offsets[o], keys[i] = true, true, true
				taken++
			}
		}
	}
	a := newAdmission()
	agent := []store.Cell{textCell("a"), textCell(""), textCell(""), {}, {}, {}, textCell("{}"), textCell(""), textCell("")}
	run := func(id, of string, turn int64) []store.Cell {
		row := make([]store.Cell, len(sdkdoc.Run.Columns()))
		row[sdkdoc.RunID], row[sdkdoc.RunAgent], row[sdkdoc.RunTurn] = textCell(id), textCell(of), store.IntCell(turn)
		return row
	}
	for i, c := range []struct {
		kind sdkdoc.Kind
		row  []store.Cell
		want bool
	}{
		{sdkdoc.Agent, agent, true}, {sdkdoc.Agent, agent, false},
		{sdkdoc.Run, run("r", "a", 1), true}, {sdkdoc.Run, run("r", "a", 2), false}, {sdkdoc.Run, run("s", "a", 1), false}, {sdkdoc.Run, run("s", "b", 1), false}, {sdkdoc.Run, run("s", "a", 2), true},
		{sdkdoc.Event, eventRow("r", -1<<63, "x", store.NullCell()), true}, {sdkdoc.Event, eventRow("r", 1<<63-1, "y", store.NullCell()), true}, {sdkdoc.Event, eventRow("r", -1<<63, "z", store.NullCell()), false},
	} {
		if got := a.admit(c.kind, c.row); got != c.want {
			t.Errorf("row %d: admitted %v, want %v", i, got, c.want)
		}
	}
}
