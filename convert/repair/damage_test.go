package repair_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/repair"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/testdata/faults"
)

// TestRandomDamage damages a file of a sample at random. Whatever that does, a repair
// ends, leaves the source alone, and leaves no more errors of any rule than a check
// found, except those that only show once the file can be read again.
func TestRandomDamage(t *testing.T) {
	known := &faults.Samples{Dir: t.TempDir(), Testdata: "../../testdata"}
	for seed, one := range []struct{ sample, file string }{
		{"chat", "chats/*/*/store.db"}, {"sdk-closed", "index.db"}, {"sdk-closed", "agents/agent-ed*/store.db"},
		{"claude-sound", "projects/*/*1.jsonl"}, {"claude-sound", "projects/*/*4.jsonl"}, {"ndjson-closed", "runs.ndjson"}, {"ndjson-closed", "checkpoints.ndjson"},
		{"codex", "sessions/*/*/*/*.jsonl"},
	} {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		t.Run(strings.ReplaceAll(one.sample+"/"+one.file, "*", "_"), func(t *testing.T) {
			acts := int64(0)
			for range 12 {
				dir, err := known.Fresh(t.Context(), one.sample)
				if err != nil {
					t.Fatal(err)
				}
				files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(one.file)))
				if err != nil || len(files) == 0 {
					t.Fatalf("%v, %v", files, err)
				}
				b, err := os.ReadFile(files[0])
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(files[0], damage(random, b), 0o600); err != nil {
					t.Fatal(err)
				}
				before, dst := findings(t, dir, rule.Error), filepath.Join(t.TempDir(), filepath.Base(dir))
				r, err := repair.Repair(t.Context(), all.Registry(), dir, dst, repair.Options{})
				if err != nil {
					t.Errorf("%v", err)
					continue
				}
				acts += r.Acts()
				for id, n := range findings(t, dst, rule.Error) {
					if n > before[id] && id < "RH200" {
						t.Errorf("%s: %d, and %d before", id, n, before[id])
					}
				}
				os.RemoveAll(dir)
			}
			if acts == 0 {
				t.Error("nothing was repaired")
			}
		})
	}
}

// damage overwrites, removes, repeats or cuts off a part.
func damage(random *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range 1 + random.IntN(3) {
		at := random.IntN(len(b))
		n := min(1+random.IntN(200), len(b)-at)
		switch random.IntN(5) {
		case 0:
			for i := range b[at : at+n] {
				b[at+i] = byte(random.IntN(256))
			}
		case 1:
			clear(b[at : at+n])
		case 2:
			b = append(b[:at], b[at+n:]...)
		case 3:
			b = append(b[:at+n], b[at:]...)
		default:
			b = b[:max(200, at)]
		}
	}
	return b
}
