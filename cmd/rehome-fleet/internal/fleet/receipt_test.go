package fleet

import (
	"path/filepath"
	"testing"
)

// TestAgree: two runs may differ in what depends on a machine, and in nothing else.
func TestAgree(t *testing.T) {
	receipt := func(o outcome, digest string) []byte {
		b, err := encode(Receipt{Schema: 1, Unit: "u", Stores: []StoreReceipt{{Path: "m/a", Outcome: o}}, Files: []File{{"0000/canonical.jsonl", 1, digest}, {verdictsName, 1, digest}}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		there, here []byte
		agree       bool
	}{
		{receipt(ok, "a"), receipt(ok, "a"), true},
		{receipt(ok, "a"), receipt(ok, "b"), false},
		{receipt(ok, "a"), receipt(findings, "a"), false},
		{receipt(poison, ""), receipt(ok, "a"), true},
		{receipt(torn, ""), receipt(ok, ""), false},
		{[]byte("{"), receipt(ok, "a"), false},
	} {
		if err := agree("out", c.there, c.here); (err == nil) != c.agree {
			t.Errorf("%s and %s: %v", c.there, c.here, err)
		}
	}
}

// TestCommandLine rejects what is invalid, and writes nothing.
func TestCommandLine(t *testing.T) {
	bin, src, dir := program(t), machines(t, 1), t.TempDir()
	plan, out := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out")
	must(t, 0, bin, "plan", src, "--out", plan)
	for _, c := range []struct {
		code int
		args []string
	}{
		{2, []string{"plan", src, "--verb", "burn"}},
		{2, []string{"plan", src, "--unit-size", "256"}},
		{2, []string{"plan", src, "--max-store", "-1GB"}},
		{2, []string{"plan", "gs://machines"}},
		{2, []string{"plan"}},
		{1, []string{"plan", filepath.Join(dir, "missing")}},
		{1, []string{"plan", src, "--out", filepath.Join(src, "plan.ndjson")}},
		{1, []string{"plan", dir + "/..", "--out", plan}},
		{1, []string{"plan", src, "--out", plan, "--verb", "archive"}}, // another plan is there
		{2, []string{"do", plan, "--out", out}},
		{2, []string{"do", plan, "--shard", "1/1", "--out", out}},
		{2, []string{"do", plan, "--shard", "0/1", "--out", out, "--jobs", "-1"}},
		{2, []string{"do", plan, "--shard", "0/1", "--out", out, "--timeout", "0s"}},
		{1, []string{"do", plan, "--shard", "0/1", "--out", filepath.Join(src, "out")}},
		{1, []string{"do", plan, "--shard", "0/1", "--out", src}},
		{1, []string{"do", plan, "--shard", "0/1", "--out", out, "--scratch", filepath.Join(dir, "missing")}},
		{1, []string{"report", filepath.Join(dir, "missing"), "--out", out}},
		{4, []string{"report", plan, "--out", filepath.Join(dir, "missing")}},
		{2, []string{"report", plan}},
		{2, []string{"load", plan, "postgres://127.0.0.1:1/x"}},
		{1, []string{"load", plan, "postgres://127.0.0.1:1/x", "--out", out}}, // its verb is check
	} {
		before := tree(t, src)
		must(t, c.code, bin, c.args...)
		sameTree(t, tree(t, src), before)
	}
	// What the plan lists is not there, such as before a disk is mounted: no receipt says so.
	must(t, 5, bin, "do", plan, "--shard", "0/1", "--out", out, "--source", t.TempDir())
	must(t, 4, bin, "report", plan, "--out", out)
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", out)
	must(t, 0, bin, "report", plan, "--out", out)
	// This program has no command parquet. That is not the fault of stores.
	must(t, 0, bin, "plan", src, "--out", plan+"2", "--verb", "parquet")
	must(t, 1, bin, "do", plan+"2", "--shard", "0/1", "--out", out)
	must(t, 4, bin, "report", plan+"2", "--out", out)
}
