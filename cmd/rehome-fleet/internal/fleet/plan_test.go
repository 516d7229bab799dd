package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/rehome-fleet/internal/bucket"
)

// listing is a bucket that can only be listed.
type listing struct {
	bucket.Bucket
	objects iter.Seq[bucket.Object]
}

func (listing) Name() string { return "s3://machines" }

func (l listing) List(context.Context) iter.Seq2[bucket.Object, error] {
	return func(yield func(bucket.Object, error) bool) {
		for o := range l.objects {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func planOf(t testing.TB, out io.Writer, objects iter.Seq[bucket.Object]) *Total {
	t.Helper()
	p := Planner{Recipe{"check", "1"}, listing{objects: objects}, 256e6, 16e9}
	total, err := p.Plan(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// storesOf returns the stores of a plan as "kind path: members", and other objects.
func storesOf(t testing.TB, keys ...string) (stores, others []string) {
	t.Helper()
	slices.Sort(keys)
	var text bytes.Buffer
	total := planOf(t, &text, func(yield func(bucket.Object) bool) {
		for _, k := range keys {
			if !yield(bucket.Object{Key: k, Size: 1, Tag: "a"}) {
				return
			}
		}
	})
	if total.Objects != int64(len(keys)) {
		t.Errorf("%d objects in the plan, listed %d", total.Objects, len(keys))
	}
	for line := range bytes.Lines(text.Bytes()) {
		var u Unit
		var o Other
		_, _ = json.Unmarshal(line, &u), json.Unmarshal(line, &o) // a line is one of them
		if u.Type != "unit" {
			u.Stores = nil
		}
		for _, s := range u.Stores {
			var members []string
			for _, m := range s.Members {
				members = append(members, strings.TrimPrefix(strings.TrimPrefix(m.Key, s.Path), "/"))
			}
			stores = append(stores, s.Kind+" "+s.Path+" ["+strings.Join(members, " ")+"]")
		}
		if o.Type == "other" {
			others = append(others, o.Key)
		}
	}
	return stores, others
}

// TestNames makes stores of names.
func TestNames(t *testing.T) {
	const id = "5d0b2b7e-1111-4000-8000-000000000000"
	for _, c := range []struct{ keys, stores, others string }{
		{"m/.cursor/chats/h/" + id + "/store.db m/.cursor/chats/h/" + id + "/store.db-wal m/.cursor/chats/h/" + id + "/meta.json", "cursor-chat m/.cursor/chats/h/" + id + " [meta.json store.db store.db-wal]", ""},
		{"m/a/store.db m/a/store.db-shm m/a/store.db-wal m/a/x.txt m/b/store.db", "cursor-chat m/a/store.db [ -shm -wal]|cursor-chat m/b/store.db []", "m/a/x.txt"},
		{"m/User/globalStorage/state.vscdb m/User/globalStorage/state.vscdb.backup m/User/settings.json m/User/workspaceStorage/a/state.vscdb-wal m/User/workspaceStorage/a/workspace.json",
			"cursor-ide m/User [globalStorage/state.vscdb workspaceStorage/a/state.vscdb-wal workspaceStorage/a/workspace.json]", "m/User/globalStorage/state.vscdb.backup|m/User/settings.json"},
		{"m/p/sdk-agent-store/x/index.db m/p/agent-transcripts/a/a.jsonl", "cursor-transcript m/p/agent-transcripts [a/a.jsonl]|cursor-sdk m/p/sdk-agent-store/x [index.db]", ""},
		{"m/s/agents/agent-1/store.db m/s/agents/agent-2/store.db m/s/index.db m/s/index.db-wal", "cursor-sdk m/s [agents/agent-1/store.db agents/agent-2/store.db index.db index.db-wal]", ""},
		{"m/s/agents/agent-1/store.db", "cursor-chat m/s/agents/agent-1/store.db []", ""}, // its index.db is missing
		{"m/x/index.db", "", "m/x/index.db"},
		{"m/n.sidecar.ndjson m/n-1/x m/n/agents.ndjson m/n/runs.ndjson m/n/deep/x", "cursor-ndjson m/n [.sidecar.ndjson agents.ndjson runs.ndjson]", "m/n-1/x|m/n/deep/x"},
		{"m/n/a/agents.ndjson m/n/b/agents.ndjson m/n/rehome.json", "cursor-ndjson m/n [a/agents.ndjson b/agents.ndjson rehome.json]", ""},
		{"m/n/.gitattributes m/n/index.db/agents.ndjson m/n/manifest.json", "archive m/n [.gitattributes index.db/agents.ndjson manifest.json]", ""},
		// The two names of archives are those of other folders, too, in which there are stores.
		{"m/n/.gitattributes m/n/manifest.json m/n/settings.json m/n/chat/store.db m/n/s.jsonl m/n/x/agents.ndjson", "cursor-chat m/n/chat/store.db []|lines m/n/s.jsonl []|cursor-ndjson m/n/x [agents.ndjson]", "m/n/.gitattributes|m/n/manifest.json|m/n/settings.json"},
		{"m/n/.gitattributes m/n/manifest.json m/n/s.ndjson m/n/chat/store.db m/n/chat/store.db-wal", "archive m/n [.gitattributes manifest.json s.ndjson]|cursor-chat m/n/chat/store.db [ -wal]", ""},
		{"m/n/database.json m/n/manifest.json m/n/blobs/3f/a.ndjson", "archive m/n [blobs/3f/a.ndjson database.json manifest.json]", ""},
		{"m/n/.gitattributes m/n/manifest.json m/n/globalStorage/state.vscdb/cursordiskkv/3f/a.ndjson m/n/t/a.jsonl m/n/t/a.jsonl.xxh3", "archive m/n [.gitattributes globalStorage/state.vscdb/cursordiskkv/3f/a.ndjson manifest.json t/a.jsonl t/a.jsonl.xxh3]", ""},
		{"m/n/.gitattributes m/n/manifest.json m/n/sdk-agent-store/h/agents/agent-1/store.db/database.json", "archive m/n [.gitattributes manifest.json sdk-agent-store/h/agents/agent-1/store.db/database.json]", ""},
		{"m/.claude/projects/p/a.jsonl m/.claude/projects/p/a/subagents/agent-1.jsonl m/.claude/projects/p/a-2.jsonl m/.claude/projects/p/b/tool-results/x.txt",
			"claude-code m/.claude/projects/p/a-2.jsonl []|claude-code m/.claude/projects/p/a.jsonl [ m/.claude/projects/p/a/subagents/agent-1.jsonl]", "m/.claude/projects/p/b/tool-results/x.txt"},
		{"m/.codex/sessions/2026/01/02/rollout-1.jsonl m/.codex/sessions/2026/02/03/rollout-2.jsonl.zst m/.codex/history.jsonl", "lines m/.codex/history.jsonl []|codex m/.codex/sessions [2026/01/02/rollout-1.jsonl 2026/02/03/rollout-2.jsonl.zst]", ""},
		{"m/n/agents.ndjson m/n/store.db m/n/x.jsonl", "cursor-ndjson m/n [agents.ndjson]|cursor-chat m/n/store.db []|lines m/n/x.jsonl []", ""},
		{"m/s/agents/agent-1/store.db m/s/chat/store.db m/s/index.db m/s/x.jsonl", "cursor-sdk m/s [agents/agent-1/store.db index.db]|cursor-chat m/s/chat/store.db []|lines m/s/x.jsonl []", ""},
		{"store.db a.jsonl", "lines a.jsonl []|cursor-chat store.db []", ""},
		{"agents.ndjson runs.ndjson m/x.jsonl", "cursor-ndjson  [agents.ndjson runs.ndjson]|lines m/x.jsonl []", ""},
		{"m//x.jsonl m/../x.jsonl m/a\x00.jsonl m/\xff.jsonl m/" + strings.Repeat("n", 300) + ".jsonl /x.jsonl", "", "*6"},
	} {
		stores, others := storesOf(t, strings.Split(c.keys, " ")...)
		slices.Sort(others)
		slices.Sort(stores)
		want := strings.Split(c.stores, "|")
		slices.Sort(want)
		got := strings.Join(others, "|")
		if c.others == "*6" {
			got = fmt.Sprintf("*%d", len(others))
		}
		if strings.Join(stores, "|") != strings.Join(want, "|") || got != c.others {
			t.Errorf("%q:\n got %q, others %q\nwant %q, others %q", c.keys, stores, others, want, c.others)
		}
	}
}

// bigListing lists n names: machines of a thousand chats, each with a log and a line of text.
func bigListing(n int) iter.Seq[bucket.Object] {
	return func(yield func(bucket.Object) bool) {
		for i := range n / 3 {
			dir := fmt.Sprintf("machine-%07d/home/ann/.cursor/chats/5734498605caec2da8801a5b40f5caa8/%08d-1111-4000-8000-000000000000/", i/1000, i)
			for _, name := range [...]string{"notes.txt", "store.db", "store.db-wal"} {
				if !yield(bucket.Object{Key: dir + name, Size: 1 << 20, Tag: "0123456789abcdef0123456789abcdef"}) {
					return
				}
			}
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// TestBigListing: memory does not grow with what is listed, but for a hash for each store.
func TestBigListing(t *testing.T) {
	n := 300_000
	if os.Getenv("REHOME_TEST_NAMES") != "" {
		fmt.Sscan(os.Getenv("REHOME_TEST_NAMES"), &n)
	}
	var peak uint64
	measure := func() {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	seen := 0
	measured := func(yield func(bucket.Object) bool) {
		for o := range bigListing(n) {
			if !yield(o) {
				return
			}
			if seen++; seen%(n/10) == 0 {
				measure()
			}
		}
	}
	wrote := 0
	total := planOf(t, writerFunc(func(b []byte) {
		if wrote += len(b); wrote > 8<<20 { // the second half of the work, too
			wrote = 0
			measure()
		}
	}), measured)
	if total.Objects != int64(n) || total.Stores != int64(n/3) || total.Others != 0 {
		t.Errorf("%+v", total)
	}
	limit := uint64(16<<20 + n/3*40)
	t.Logf("%d names, %d units: %d kB of heap", n, total.Units, peak>>10)
	if peak > limit {
		t.Errorf("%d names take %d bytes of heap, more than %d", n, peak, limit)
	}
}

// TestListingOrder: a folder is listed in the order in which a server lists it.
func TestListingOrder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/b", "a-b/c", "a.b", "a0", "A", "a/b0", "a/b-c/d", "a/b.c"} {
		at := filepath.Join(dir, name)
		if name == "a/b" {
			at = filepath.Join(dir, "a", "b", "x")
		}
		os.MkdirAll(filepath.Dir(at), 0o777)
		os.WriteFile(at, nil, 0o666)
	}
	b, err := bucket.Open(dir, bucket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for o, err := range b.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	if !slices.IsSorted(keys) || len(keys) != 8 {
		t.Errorf("%q", keys)
	}
}

// TestShards: every unit is in one shard, and the shards are even.
func TestShards(t *testing.T) {
	p := &planFile{}
	for i := range 1000 {
		p.units = append(p.units, unitAt{at: int64(i), seconds: float64(1 + i%17*i%13)})
	}
	for _, n := range []int{1, 7, 64, 2000} {
		seen, most, least := map[int64]int{}, 0.0, 1e9
		for i := range n {
			sum := 0.0
			for _, u := range p.shard(i, n) {
				seen[u.at]++
				sum += u.seconds
			}
			most, least = max(most, sum), min(least, sum)
		}
		if len(seen) != 1000 || n < 100 && most-least > 20 {
			t.Errorf("%d shards: %d units, from %v to %v seconds", n, len(seen), least, most)
		}
		for at, times := range seen {
			if times != 1 {
				t.Errorf("unit %d is in %d shards", at, times)
			}
		}
	}
}

// TestParseShard reads the variables of schedulers.
func TestParseShard(t *testing.T) {
	for _, c := range []struct{ text, env, want string }{
		{"0/1", "", "0 1"}, {"3/4", "", "3 4"}, {"4/4", "", "there is no shard 4 of 4"}, {"0/0", "", "number of shards"}, {"1", "", "invalid shard"}, {"-1/4", "", "invalid shard"},
		{"auto", "", "no variable"}, {"x/3", "", "invalid shard"}, {"auto/", "", "number of shards"}, {"1/99999999", "", "number of shards"},
		{"auto", "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4", "2 4"},
		{"auto", "SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=4", "not one of 4"},
		{"auto", "AWS_BATCH_JOB_ARRAY_INDEX=3 AWS_BATCH_JOB_ARRAY_SIZE=4", "3 4"}, {"auto", "CLOUD_RUN_TASK_INDEX=0 CLOUD_RUN_TASK_COUNT=4", "0 4"},
		{"auto/4", "CLOUD_RUN_TASK_INDEX=0 CLOUD_RUN_TASK_COUNT=5", "runs 5 tasks"}, {"auto", "JOB_COMPLETION_INDEX=2", "does not tell"},
		{"auto/4", "JOB_COMPLETION_INDEX=2", "2 4"}, {"auto/4", "JOB_COMPLETION_INDEX=4", "not one of 4"}, {"auto/4", "JOB_COMPLETION_INDEX=x", "not one of 4"},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		i, n, err := parseShard(c.text, func(name string) string { return env[name] })
		got := fmt.Sprint(i, n)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s, want %s", c.text, c.env, got, c.want)
		}
	}
}
