package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/schemas"
)

// valid checks a document against a published schema, and that the schema rejects it without
// any of its members, and with one more.
func valid(t *testing.T, name string, text []byte) {
	t.Helper()
	published, err := os.ReadFile("../../schemas/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schemas.Read(published)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := s.Validate(text); err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
	optional := []string{"plan", "giant"}
	whole := decode[map[string]json.RawMessage](t, string(text))
	for _, member := range append(slices.Collect(maps.Keys(whole)), "stranger") {
		other := maps.Clone(whole)
		if _, found := other[member]; found {
			delete(other, member)
		} else {
			other[member] = json.RawMessage("1")
		}
		b, _ := json.Marshal(other)
		if s.Validate(b) == nil && (!slices.Contains(optional, member) || name == "fleet-do-result-1") {
			t.Errorf("%s does not mind %s", name, member)
		}
	}
}

// TestSchemas validates everything that is written about a fleet in which every outcome but
// poison occurs.
func TestSchemas(t *testing.T) {
	bin, src, dir := program(t), machines(t, 2), t.TempDir()
	hostile(t, src)
	plan, out := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out")
	valid(t, "fleet-plan-result-1", []byte(must(t, 0, bin, "--json", "plan", src, "--dry-run")))
	valid(t, "fleet-plan-result-1", []byte(must(t, 0, bin, "--json", "plan", src, "--out", plan)))
	lines, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(lines) {
		valid(t, "fleet-plan-1", line)
	}
	must(t, 4, bin, "report", plan, "--out", out)
	valid(t, "fleet-do-result-1", []byte(must(t, 0, bin, "--json", "do", plan, "--shard", "0/1", "--out", out)))
	text := must(t, 0, bin, "--json", "report", plan, "--out", out, "--verify")
	valid(t, "fleet-report-1", []byte(text))
	r := decode[Report](t, text)
	for _, o := range []outcome{ok, findings, torn, refused, giant} {
		if r.Outcomes[o] == 0 {
			t.Errorf("no store is %s", o)
		}
	}
	receipts, _ := filepath.Glob(filepath.Join(out, unitsName, "*", receiptName))
	for _, at := range receipts {
		b, _ := os.ReadFile(at)
		valid(t, "fleet-receipt-1", b)
	}
	// A damaged receipt is named, and a damaged result if it is read.
	if err := os.WriteFile(receipts[0], []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(receipts[1]), verdictsName, "{}\n")
	if r := decode[Report](t, firstJSON(must(t, 4, bin, "--json", "report", plan, "--out", out))); r.Damaged != 1 {
		t.Errorf("%d units are damaged", r.Damaged)
	}
	if r := decode[Report](t, firstJSON(must(t, 4, bin, "--json", "report", plan, "--out", out, "--verify"))); r.Damaged != 2 {
		t.Errorf("verified: %d units are damaged", r.Damaged)
	}
	// So is a plan.
	for _, damage := range [][]byte{lines[:len(lines)-1], lines[:len(lines)/2], nil, bytes.Replace(lines, []byte("machine-1"), []byte("machine-9"), 1), []byte("{}\n"), bytes.Repeat([]byte("x"), 1<<20)} {
		if err := os.WriteFile(plan, damage, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"do", plan, "--shard", "0/1", "--out", out + "2"}, {"report", plan, "--out", out}} {
			must(t, 1, bin, args...)
		}
	}
}

// TestFullDisk: results that do not fit are not there, and are complete on a larger disk.
func TestFullDisk(t *testing.T) {
	bin, src, dir := program(t), machines(t, 2), t.TempDir()
	plan, disk := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "disk")
	must(t, 0, bin, "plan", src, "--out", plan, "--verb", "archive")
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	placed, failed := 0, 0
	for pages := 1; pages <= 64; pages += 1 + pages {
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d", pages*os.Getpagesize())); err != nil {
			t.Logf("no disk of our own (%v)", err)
			return
		}
		code, text := run(t, bin, "do", plan, "--shard", "0/1", "--out", filepath.Join(disk, "out"), "--jobs", "1")
		reported, _ := run(t, bin, "report", plan, "--out", filepath.Join(disk, "out"), "--verify")
		left, _ := filepath.Glob(filepath.Join(disk, "out", ".*"))
		unix.Unmount(disk, unix.MNT_DETACH)
		switch {
		case code == 0 && reported == 0:
			placed++
		case code == 1 && reported == 4:
			failed++
		default:
			t.Errorf("%d pages: do %d, report %d: %s", pages, code, reported, text)
		}
		if len(left) > 0 {
			t.Errorf("%d pages: left %q", pages, left)
		}
	}
	if placed == 0 || failed == 0 {
		t.Errorf("placed %d, failed %d: the sizes do not straddle the need", placed, failed)
	}
}
