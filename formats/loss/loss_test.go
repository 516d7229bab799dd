package loss

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/formats/store"
)

// TestBooks: losses are told apart by code and by the arguments that a phrase
// for several names, and are put into words for as many as there are.
func TestBooks(t *testing.T) {
	var a, b Log
	at := func(line int) store.Addr { return store.Addr{File: "f", Line: line} }
	for i, n := range []Loss{
		{Code: ColumnForeign, Args: []string{"x"}}, {Code: ValueNotJSON, Args: []string{"cut short"}}, {Code: ColumnForeign, Args: []string{"y"}},
		{Code: ColumnForeign, Args: []string{"x"}}, {Code: TurnAbandoned},
	} {
		n.At = at(i)
		a.Add(n)
	}
	b.Add(Loss{Code: ValueNotJSON, At: at(9), Args: []string{"deep"}})
	for range 7 {
		b.Add(Loss{Code: TurnAbandoned, At: at(8)})
	}
	if a.Worst() != Unreadable || new(Log).Worst() != 0 {
		t.Errorf("the worst is %v", a.Worst())
	}
	first := a.Groups()
	merged, err := json.Marshal(Merge(a.Groups(), b.Groups()))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[` +
		`{"code":"L702","kind":"dropped","consequence":"none","what":"columns that the SDK does not create: x","args":{"column":"x"},"count":2,"places":["f","f:3"]},` +
		`{"code":"L307","kind":"unreadable","consequence":"unseen","what":"records that are not valid JSON","count":2,"places":["f:1"]},` +
		`{"code":"L702","kind":"dropped","consequence":"none","what":"column that the SDK does not create: y","args":{"column":"y"},"count":1,"places":["f:2"]},` +
		`{"code":"L517","kind":"dropped","consequence":"client","what":"abandoned turns","count":8,"places":["f:4"]}]`
	if string(merged) != want {
		t.Errorf("merged:\n%s\nwant\n%s", merged, want)
	}
	if l := first[1]; l.What != "record that is not valid JSON: cut short" || l.Args["cause"] != "cut short" || l.Count != 1 {
		t.Errorf("a line alone: %+v", l)
	}
	n := Loss{Code: BlobMissing, At: at(1), Args: []string{"turn"}}
	if l := n.Group(); n.What() != "blob that the store does not hold: turn" || l.What != n.What() || l.Kind != n.Kind() || l.Places[0] != "f:1" {
		t.Errorf("%+v", n.Group())
	}
}

func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		text, err := k.MarshalText()
		var back Kind
		if err != nil || back.UnmarshalText(text) != nil || back != k {
			t.Errorf("%s comes back as %s (%v)", k, back, err)
		}
	}
	if new(Kind).UnmarshalText([]byte("stolen")) == nil {
		t.Error("stolen is no kind")
	}
}

// TestNoSuchCode: a code that is in no table is a mistake in the program.
func TestNoSuchCode(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("L999 is a code")
		}
	}()
	Code("L999").Definition()
}

// TestBrief: a summary has one phrase for the same consequence, what the model does not
// see first, and nothing of what does not matter.
func TestBrief(t *testing.T) {
	var groups []Group
	for _, c := range []Code{SnapshotDropped, MessageMetadata, ToolRenamed, MediaNamed, ResultMediaNamed, BackupMissing, MediaNamed} {
		groups = append(groups, Loss{Code: c}.Group())
	}
	var got []string
	for _, g := range Brief(groups) {
		got = append(got, fmt.Sprintf("%s: %d %s", g.Consequence, g.Count, g.What))
	}
	if want := []string{"unseen: 3 images or files named in words only", "client: 2 file snapshots not carried"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if one := Brief(groups[:1]); len(one) != 1 || one[0].What != "file snapshot not carried" {
		t.Errorf("%+v", one)
	}
}

// TestHostileNames: a million names, some of them long, take no more memory than a
// thousand, and each loss is counted.
func TestHostileNames(t *testing.T) {
	const n = 1_000_000
	var l Log
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		name := strconv.Itoa(i)
		if i%1000 == 0 {
			name += strings.Repeat("ö", 100_000)
		}
		l.Add(Loss{Code: ToolNameChanged, Args: []string{name, "x"}[:len(ToolNameChanged.Definition().Args)]})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	groups := l.Groups()
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 8<<20 || len(groups) != maxGroups+1 {
		t.Errorf("%d groups hold %d bytes", len(groups), held)
	}
	sum := func(list []Group) (out int64) {
		for _, g := range list {
			out += g.Count
		}
		return out
	}
	if last := groups[len(groups)-1]; sum(groups) != n || !strings.Contains(last.What, rest) || last.Count != n-maxGroups {
		t.Errorf("%d losses; the last group has %d: %s", sum(groups), last.Count, last.What)
	}
	var other Log
	for i := range maxGroups {
		other.Add(Loss{Code: ToolNameChanged, Args: []string{"other " + strconv.Itoa(i), "x"}[:len(ToolNameChanged.Definition().Args)]})
	}
	if both := Merge(groups, other.Groups()); len(both) != len(groups) || sum(both) != n+maxGroups {
		t.Errorf("merged: %d groups, %d losses", len(both), sum(both))
	}
}
