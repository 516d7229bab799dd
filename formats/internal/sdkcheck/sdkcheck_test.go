package sdkcheck

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// gathered collects what a catalog reports.
func gathered(fill func(c *Catalog)) (out []string) {
	q := &rule.Pass{Layers: rule.References | rule.Meaning, Report: func(f rule.Finding) {
		out = append(out, fmt.Sprintf("%s %d %s", f.Rule, f.At.Line, f.Pointer))
	}}
	c := New(q, Places{Status: "/status", Turn: "/turn", Active: "/active", Ends: map[string]string{"finished": "/end"}})
	fill(c)
	c.Finish()
	slices.Sort(out)
	return out
}

// TestGaps: what stands on a line that cannot be read is not missing.
func TestGaps(t *testing.T) {
	fill := func(gap bool) func(c *Catalog) {
		return func(c *Catalog) {
			c.Gaps.Agents, c.Gaps.Runs = gap, gap
			c.PutAgent(Agent{ID: "a", Active: "r9", At: store.Addr{Line: 1}})
			c.PutRun(Run{ID: "r1", Agent: "nobody", Turn: 2, Status: "finished", Ends: []string{"/end"}, At: store.Addr{Line: 2}})
			c.PutEvent(Event{Run: []byte("r8"), Seq: 1, At: store.Addr{Line: 3}})
		}
	}
	if got, want := gathered(fill(false)), []string{"RH312 2 ", "RH315 2 /turn", "RH316 3 ", "RH321 1 /active"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := gathered(fill(true)); len(got) > 0 {
		t.Errorf("with gaps: %q", got)
	}
}

// TestUnderWay: a run that has not ended is judged by what is newer, not by
// the order of the records.
func TestUnderWay(t *testing.T) {
	run := func(id string, turn int64, status string) Run {
		r := Run{ID: id, Agent: "a", Turn: turn, Status: status, At: store.Addr{Line: int(turn)}}
		if status == "finished" {
			r.Ends = []string{"/end"}
		}
		return r
	}
	for _, c := range []struct {
		runs []Run
		want []string
	}{
		{[]Run{run("1", 1, "queued")}, nil},
		{[]Run{run("1", 1, "running")}, []string{"RH324 1 /status"}},
		{[]Run{run("2", 2, "running"), run("1", 1, "finished")}, []string{"RH324 2 /status"}},
		{[]Run{run("2", 2, "finished"), run("1", 1, "creating")}, []string{"RH323 1 /status"}},
		{[]Run{run("1", 1, "queued"), run("2", 2, "queued")}, []string{"RH323 1 /status"}},
		{[]Run{run("1", 1, ""), run("2", 2, "finished")}, nil},
	} {
		got := gathered(func(k *Catalog) {
			k.PutAgent(Agent{ID: "a"})
			for _, r := range c.runs {
				k.PutRun(r)
			}
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.runs, got, c.want)
		}
	}
}

// TestFrozen: a catalog that is finished is only read, whoever asks.
func TestFrozen(t *testing.T) {
	q := &rule.Pass{Layers: rule.References, Report: func(rule.Finding) {}}
	c := New(q, Places{})
	for i := range 50 {
		id := fmt.Sprint("a", i)
		c.PutAgent(Agent{ID: id, Root: "x"})
		for _, turn := range []int64{3, 1, 2} {
			c.PutRun(Run{ID: fmt.Sprint(id, turn), Agent: id, Turn: turn, Start: fmt.Sprint(turn)})
			c.PutEvent(Event{Run: fmt.Append(nil, id, turn), Seq: 1, Key: []byte("k")})
		}
	}
	c.Finish()
	was := fmt.Sprintf("%v %v", c.order, c.agents["a7"].runs)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() { // the race detector looks on
			for i := range 50 {
				if id := fmt.Sprint("a", i); !c.Known(id) || len(c.Agents()) != 50 || c.Walk(t.Context(), id, nil) != nil {
					t.Error(id)
				}
			}
		})
	}
	asking.Wait()
	if refs := c.references("a7"); len(refs) != 4 || refs[0].root != "1" || refs[2].root != "3" || refs[3].root != "x" {
		t.Errorf("%v", refs)
	}
	if c.runs != nil || c.keys != nil || c.last != nil || fmt.Sprintf("%v %v", c.order, c.agents["a7"].runs) != was {
		t.Error("it can still change")
	}
}
