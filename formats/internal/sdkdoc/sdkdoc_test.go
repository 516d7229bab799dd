package sdkdoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rehome/formats/store"
)

// Every cell that Append does not call lost comes back from the line, and
// every cell it calls lost does not.
func TestRowsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p Parser
	for range 25_000 {
		k := Kind(r.IntN(Kinds))
		row := randomRow(r, k)
		if !k.Named(row) {
			continue
		}
		line, lost := k.Append(nil, row)
		if !json.Valid(line) || bytes.ContainsAny(line, "\r\n") {
			t.Fatalf("%q is no line", line)
		}
		back, fit := p.Parse(k, line)
		if fit == None {
			t.Fatalf("%s does not come back from %s", show(row), line)
		}
		for col := range back {
			if same := equal(row[col], back[col]); same == lost.Has(col) {
				t.Fatalf("column %s of %s: %s came back as %s, lost %v; line %s", k.Columns()[col], k.Table(), show(row[col:col+1]), show(back[col:col+1]), lost.Has(col), line)
			}
		}
	}
}

// A line that fits exactly is the line of its row; one that does not is
// described by its frame.
func TestLinesComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var p Parser
	fits := map[Fit]int{}
	for range 25_000 {
		k := Kind(r.IntN(Kinds))
		line := randomLine(r, k)
		row, fit := p.Parse(k, line)
		fits[fit]++
		if fit == None {
			continue
		}
		own, _ := k.Append(nil, row)
		if (fit == Exact) != bytes.Equal(own, line) {
			t.Fatalf("%s of %s: fit %d, its own line is %s", k.File(), line, fit, own)
		}
		if before, after, ok := p.Frame(); ok {
			if got := k.Unframe(nil, before, after, row); !bytes.Equal(got, line) {
				t.Fatalf("%s comes back from its frame as %s", line, got)
			}
		}
	}
	for _, f := range []Fit{None, Dropped, Reshaped, Exact} {
		if fits[f] < 300 {
			t.Errorf("only %d lines of fit %d: the test does not test", fits[f], f)
		}
	}
}

func TestFits(t *testing.T) {
	hex := strings.Repeat("ab", 32)
	for _, c := range []struct {
		kind Kind
		line string
		want Fit
	}{
		{Agent, `{"agentId":"a","cwd":"/w","status":"idle","activeRunId":null,"name":"N","createdAt":0,"updatedAt":1,"sdkMetadata":{}}`, Exact},
		{Agent, `{"agentId":"a","cwd":"/w","status":"idle","activeRunId":null,"name":"N","createdAt":0,"updatedAt":1,"sdkMetadata":{},"latestCheckpoint":{"schemaVersion":1,"rootBlobId":"` + hex + `"}}`, Exact},
		{Agent, `{"cwd":"/w","agentId":"a","status":"idle","activeRunId":null,"name":"N","createdAt":0,"updatedAt":1,"sdkMetadata":{}}`, Reshaped},
		{Agent, `{"agentId":"a"}`, Reshaped},
		{Agent, `{"agentId":"a","extra":1}`, Dropped},
		{Agent, `{"agentId":"a","agentId":"b"}`, Dropped},
		{Agent, `{"agentId":"a","name":5}`, Dropped},
		{Agent, `{"agentId":"a","latestCheckpoint":{"schemaVersion":2,"rootBlobId":"ab"}}`, Dropped},
		{Agent, `{"agentId":"a","createdAt":1.5}`, Dropped},
		{Agent, `{"agent\u0049d":"a"}`, Reshaped},
		{Agent, ``, None}, {Agent, `null`, None}, {Agent, `[]`, None}, {Agent, `{}`, None}, {Agent, `{"agentId":5}`, None},
		{Agent, `{"agentId":"a"`, None}, {Agent, `{"agentId":"a"} x`, None}, {Agent, "\ufeff" + `{"agentId":"a"}`, None}, {Agent, `{"agentId":"a",}`, None},
		{Agent, ` {"agentId":"a"}` + "\r", Reshaped},
		{Run, `{"runId":"r","agentId":"a","turnNumber":1,"status":"error","endedAt":5}`, Dropped},
		{Run, `{"runId":"r","agentId":"a","turnNumber":1,"status":"finished","endedAt":5}`, Reshaped},
		{Run, `{"runId":"r","agentId":"a","turnNumber":1.0}`, Reshaped},
		{Run, `{"runId":"r","agentId":"a"}`, None},
		{Event, `{"runId":"r","seq":1,"offset":"1","eventType":"e","payload":{"n":12345678901234567890,"s":"\ud800` + "\u2028" + `"},"payloadRef":null,"idempotencyKey":null,"createdAt":"x"}`, Exact},
		{Event, `{"runId":"r","seq":1,"offset":"1","eventType":"e","payload":null,"payloadRef":null,"idempotencyKey":null,"createdAt":5}`, Reshaped},
		{Event, `{"runId":"\ud800","seq":1,"offset":"1","eventType":"e","payload":null,"payloadRef":null,"idempotencyKey":null,"createdAt":"x"}`, Reshaped},
		{Checkpoint, `{"agentId":"a","blobId":"ab","dataBase64":"AA=="}`, Exact},
		{Checkpoint, `{"agentId":"a","blobId":"AB","dataBase64":"AA=="}`, Reshaped},
		{Checkpoint, `{"agentId":"a","blobId":"ab","dataBase64":"_-8"}`, Reshaped},
		{Checkpoint, `{"agentId":"a","blobId":"ab","dataBase64":"AB=="}`, Reshaped}, // bits beyond the byte
		{Checkpoint, `{"agentId":"a","blobId":"ab","dataBase64":"AA\n=="}`, Reshaped},
		{Checkpoint, `{"agentId":"a","blobId":"ab","dataBase64":"A\u0041=="}`, Reshaped},
		{Checkpoint, `{"agentId":"a","blobId":"abc","dataBase64":""}`, None},
		{Checkpoint, `{"agentId":"a","blobId":"ab","dataBase64":"!"}`, None},
		{Checkpoint, `{"agentId":"a","blobId":"ab"}`, None},
	} {
		var p Parser
		if _, fit := p.Parse(c.kind, []byte(c.line)); fit != c.want {
			t.Errorf("%s: fit %d, want %d (its own line: %s)", c.line, fit, c.want, p.again)
		}
	}
}

func TestTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	check := func(ms int64) {
		got, ok := AppendISO(nil, ms)
		if !ok {
			t.Fatalf("%d is a time", ms)
		}
		at := time.UnixMilli(ms).UTC()
		want := at.Format("2006-01-02T15:04:05.000Z")
		if y := at.Year(); y > 9999 {
			want = fmt.Sprintf("+%06d", y) + at.Format("2006-01-02T15:04:05.000Z")[len(fmt.Sprint(y)):]
		} else if y < 0 {
			want = fmt.Sprintf("-%06d%s", -y, at.Format("-01-02T15:04:05.000Z"))
		}
		if string(got) != want {
			t.Fatalf("%d is spelled %s, want %s", ms, got, want)
		}
		if back, exact, ok := parseISO(got); back != ms || !exact || !ok {
			t.Fatalf("%s comes back as %d, %v, %v", got, back, exact, ok)
		}
	}
	for _, ms := range []int64{0, -1, 1, maxMillis, -maxMillis, 951782400000, 253402300799999, 253402300800000, -62167219200000, -62167219200001} {
		check(ms)
	}
	for range 20_000 {
		check(r.Int64N(2*maxMillis) - maxMillis)
		check(r.Int64N(4e12))
	}
	for _, ms := range []int64{maxMillis + 1, -maxMillis - 1, 1 << 62} {
		if s, ok := AppendISO(nil, ms); ok {
			t.Errorf("%d is spelled %s", ms, s)
		}
	}
	for in, want := range map[string][3]any{
		"2026-02-30T00:00:00.000Z": {false, false}, "2026-06-04T10:00:00Z": {false, true}, "2026-06-04T10:00:00.0001+02:00": {false, true},
		"": {false, false}, "yesterday": {false, false}, "2026-06-04T10:00:00.000z": {false, false}, "2026-06-04 10:00:00.000Z": {false, false},
	} {
		if _, exact, ok := parseISO([]byte(in)); exact != want[0] || ok != want[1] {
			t.Errorf("%q: exact %v, a time %v, want %v", in, exact, ok, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		k := Kind(r.IntN(Kinds))
		f.Add(uint8(k), randomLine(r, k))
	}
	f.Fuzz(func(t *testing.T, kind uint8, line []byte) {
		var p Parser
		k := Kind(kind % Kinds)
		if bytes.ContainsAny(line, "\n") {
			return
		}
		row, fit := p.Parse(k, line)
		if fit == None {
			return
		}
		own, lost := k.Append(nil, row)
		if bytes.ContainsAny(own, "\n") || !k.Named(row) {
			t.Fatalf("%q gives %q", line, own)
		}
		var q Parser
		back, again := q.Parse(k, own)
		if again == None {
			t.Fatalf("%q gives %q, which gives nothing", line, own)
		}
		for col := range back {
			if !lost.Has(col) && !equal(row[col], back[col]) {
				t.Fatalf("%q: column %d came back as %s", line, col, show(back[col:col+1]))
			}
		}
		if before, after, ok := p.Frame(); ok && !bytes.Equal(k.Unframe(nil, before, after, row), line) {
			t.Fatalf("%q does not come back from its frame", line)
		}
	})
}

func equal(a, b store.Cell) bool {
	return a.Class == b.Class && a.Bits() == b.Bits() && bytes.Equal(a.Bytes(), b.Bytes())
}

func show(row []store.Cell) string {
	var s []string
	for _, c := range row {
		s = append(s, fmt.Sprintf("%v(%d)%q", c.Class, c.Bits(), c.Bytes()))
	}
	return strings.Join(s, " ")
}

// TestRunUpdated: when the record of a run was updated is kept if the run ended at
// another time, and only then.
func TestRunUpdated(t *testing.T) {
	for updated, want := range map[string]bool{"4": false, "5": true, "3": true} {
		d := ReadRun([]byte(`{"runId":"r","agentId":"a","turnNumber":1,"status":"finished","createdAt":1,"updatedAt":` + updated + `,"startedAt":1,"endedAt":4}`))
		if kept := len(d.Turn.Extras) > 0; kept != want {
			t.Errorf("updated at %s: %+v", updated, d.Turn.Extras)
		}
	}
}
