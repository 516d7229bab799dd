package fleet

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// zstdBomb is a compressed file that expands to n times 128 KB.
func zstdBomb(n int) string {
	b := []byte("\x28\xb5\x2f\xfd\x00\x58")
	for i := range n {
		h := uint32(1<<1 | 128<<10<<3)
		if i == n-1 {
			h |= 1
		}
		b = append(binary.LittleEndian.AppendUint32(b, h)[:len(b)+3], 'a')
	}
	return string(b)
}

// hostile adds stores and other files to machines that no client wrote. It returns how many
// of them have the name of a store.
func hostile(t *testing.T, dir string) int {
	t.Helper()
	good, err := os.ReadFile(testdata + "/chat/before.db")
	if err != nil {
		t.Fatal(err)
	}
	header := string(good[:100])
	corrupt := string(good[:4096]) + strings.Repeat("\xff", 3*4096) + string(good[4*4096:])
	stores := map[string]string{
		"bad/empty/store.db":    "",
		"bad/header/store.db":   header,
		"bad/garbage/store.db":  strings.Repeat("\x00\xff", 9999),
		"bad/corrupt/store.db":  corrupt,
		"bad/torn/store.db":     string(good[:len(good)-4096]),
		"bad/torn/store.db-wal": strings.Repeat("x", 5000),
		"bad/sessions/2026/01/01/rollout-2026-01-01T00-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl.zst": zstdBomb(100000),
		"bad/deep.jsonl":                     `{"type":"user","x":` + strings.Repeat("[", 1<<20),
		"bad/quote \"' ; rm -rf $HOME.jsonl": "{}\n",
		"bad/new\nline\x1b[31m.jsonl":        "{}\n",
		"bad/--json/-x.jsonl":                "{}\n",
		"bad/../bad/s3:..x.jsonl":            "{}\n",
		"bad/both/store.db/store.db":         "not a folder",
	}
	n := 0
	for name, text := range stores {
		write(t, dir, name, text)
		if !strings.HasSuffix(name, "-wal") {
			n++
		}
	}
	// A state.vscdb of 18 GB that takes no space.
	write(t, dir, "bad/sparse/state.vscdb", header)
	if err := os.Truncate(filepath.Join(dir, "bad/sparse/state.vscdb"), 18e9); err != nil {
		t.Fatal(err)
	}
	// Not readable as files, or not nameable: these belong to no store.
	at := func(name string) string {
		to := filepath.Join(dir, "bad", name)
		os.MkdirAll(filepath.Dir(to), 0o777)
		return to
	}
	for _, err := range []error{
		unix.Mkfifo(at("pipe/store.db"), 0o666), os.Symlink("/etc/passwd", at("link/store.db")), os.Symlink("..", at("loop")),
		os.WriteFile(at("latin\xff1.jsonl"), []byte("{}"), 0o666), os.WriteFile(at(strings.Repeat("n", 249)+".jsonl"), []byte("{}"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return n + 1
}

// TestHostile does good stores among hostile ones.
func TestHostile(t *testing.T) {
	n := count(t, "REHOME_TEST_STORES", 100)
	bin, src, dir := program(t), machines(t, n/2), t.TempDir()
	bad := hostile(t, src)
	plan, out := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out")
	for _, verb := range []string{"check", "canonical"} {
		plan, out := plan+verb, out+verb
		total := decode[PlanResult](t, must(t, 0, bin, "--json", "plan", src, "--out", plan, "--verb", verb))
		if total.Stores != int64(n+bad) || total.Others != int64(n/2+5) || total.Giants != 1 {
			t.Errorf("%+v, want %d stores", total.Total, n+bad)
		}
		began := time.Now()
		must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", out)
		t.Logf("%s: %d stores in %v", verb, total.Stores, time.Since(began))
		r := decode[Report](t, must(t, 0, bin, "--json", "report", plan, "--out", out, "--verify"))
		if r.Outcomes[ok] != int64(n) || r.Outcomes[giant] != 1 || r.Outcomes[torn] == 0 {
			t.Errorf("%v, want %d ok", r.Outcomes, n)
		}
		for _, l := range r.Listed {
			if !strings.HasPrefix(l.Path, "bad/") {
				t.Errorf("a good store is listed: %+v", l)
			}
			t.Logf("%s %q %q", l.Outcome, l.Path, l.Detail)
		}
		if len(r.Listed) != bad {
			t.Errorf("%d stores listed, want %d", len(r.Listed), bad)
		}
		if text := must(t, 0, bin, "report", plan, "--out", out); strings.Contains(text, "\x1b") {
			t.Error("a name controls the terminal")
		}
	}
}

// TestPoison: a process that dies is tried again; the neighbors of its store are done.
func TestPoison(t *testing.T) {
	bin, src, dir := program(t), machines(t, 2), t.TempDir()
	write(t, src, "machine-0/poison.jsonl", "{}\n")
	write(t, dir, "program", fmt.Sprintf("case \"$*\" in *poison*) echo x >>%s/starts; kill -9 $$;; esac\nexec %s \"$@\"\n", dir, bin))
	plan := filepath.Join(dir, "plan.ndjson")
	must(t, 0, bin, "plan", src, "--out", plan)
	p, err := openPlan(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := worker(t, p, filepath.Join(dir, "out"), "/bin/sh", filepath.Join(dir, "program"))
	done, err := w.do(t.Context(), p, p.shard(0, 1))
	if err != nil || done.Outcomes[poison] != 1 || done.Outcomes[ok] != 4 {
		t.Errorf("%v, %v", done, err)
	}
	if starts, _ := os.ReadFile(filepath.Join(dir, "starts")); string(starts) != "x\nx\nx\n" {
		t.Errorf("%q", starts)
	}
}

// TestLimits: each limit ends a process, with all that it started.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	l := Limits{Memory: 1 << 30, Time: time.Minute, Output: 1 << 20, CPUs: 1}
	for _, c := range []struct {
		script, want string
		time         time.Duration
	}{
		{"echo {}", "", 0},
		{"echo {}; exit 4", "", 0},
		{"echo no JSON", "the process died", 0},
		{"echo panic; exit 2", "the process died", 0},
		{"kill -9 $$", "the process died", 0},
		{"sleep 1000 & sleep 1000", errTime.Error(), 300 * time.Millisecond},
		{"while :; do printf '%65536d' 1; done", errOutput.Error(), 0},
		{"i=0; while :; do i=$((i+1)); printf '%65536d' 1 >" + dir + "/$i; done", errOutput.Error(), 0},
		{"exec head -c 2000000 /dev/zero >" + dir + "/one", "the process died", 0},
		{"sleep 0.3; exec dd if=/dev/zero of=/dev/null bs=2G count=1 && echo {}", "the process died", 0}, // more than its memory
		{"env | grep -q SECRET || echo {}", "", 0},
	} {
		t.Setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
		one := l
		one.Program = []string{"/bin/sh", "-c", c.script}
		if c.time > 0 {
			one.Time = c.time
		}
		got, err := one.run(t.Context(), dir, dir, dir, nil)
		if err != nil || got.limit != c.want {
			t.Errorf("%s: %+v, %v", c.script, got, err)
		}
	}
}

// TestLacks: a database whose log cannot be read is an older one, which is not reported as
// the store. A plan of nothing is an error, not complete.
func TestLacks(t *testing.T) {
	bin, src, dir := program(t), machines(t, 1), t.TempDir()
	for _, at := range []string{"m/file/store.db", "m/folder/" + chatID + "/store.db", "m/index/store.db"} {
		place(t, "chat/before.db", src, at)
	}
	for _, at := range []string{"m/file/store.db-wal", "m/folder/" + chatID + "/store.db-wal", "m/index/store.db.txt"} {
		if err := os.Symlink("/etc/passwd", filepath.Join(src, filepath.FromSlash(at))); err != nil {
			t.Fatal(err)
		}
	}
	plan, out := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out")
	must(t, 0, bin, "plan", src, "--out", plan)
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", out)
	r := decode[Report](t, must(t, 0, bin, "--json", "report", plan, "--out", out))
	if r.Outcomes[ok] != 3 || r.Outcomes[refused] != 2 || r.Others != 4 {
		t.Errorf("%+v", r)
	}
	for _, l := range r.Listed {
		if !strings.Contains(l.Detail, "store.db-wal\": symbolic link") {
			t.Errorf("%+v", l)
		}
	}
	must(t, 1, bin, "plan", t.TempDir(), "--out", filepath.Join(dir, "nothing"))
}
