//go:build services

package claude

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
)

// server is a real server, with a store of its own for each test.
type server struct {
	name    string
	address func(t *testing.T) string
	// insert adds an entry as a client does, without an escape of its key.
	insert func(t *testing.T, address string, k key, line string) bool
	exact  bool // every JSON object can be held
	atomic bool // a placement is visible as a whole, not session by session
	json   func(t *testing.T, address string)
}

// need returns a variable that `make services` sets.
func need(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run `make services`", name)
	}
	return v
}

func each(t *testing.T, test func(t *testing.T, s server)) {
	for _, s := range servers() {
		t.Run(s.name, func(t *testing.T) { test(t, s) })
	}
}

func open(t *testing.T, address string) *Store {
	t.Helper()
	s, err := New(address)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fetch(t *testing.T, address string) (dir string, notes []string) {
	t.Helper()
	s := open(t, address)
	var lost loss.Log
	s.OnLoss(lost.Add)
	defer func() { notes = words(lost.Groups()) }()
	dir = filepath.Join(t.TempDir(), "fetched")
	if err := s.Fetch(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	return dir, notes
}

// holds reports whether a store has the entries of a folder and no others.
func holds(t *testing.T, address, dir string) bool {
	t.Helper()
	back, _ := fetch(t, address)
	a, _, err := load(dir, "")
	b, _, also := load(back, "")
	if err = errors.Join(err, also); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(digests(a), digests(b))
}

func digests(of map[key][]string) map[key][]digest {
	out := map[key][]digest{}
	for k, lines := range of {
		for _, line := range lines {
			e, _ := inspect([]byte(line))
			out[k] = append(out[k], e.Sum)
		}
	}
	return out
}

// codes are those of losses.
type codes []loss.Code

func (of *codes) take(groups []loss.Group) error {
	for _, g := range groups {
		*of = append(*of, g.Code)
	}
	return nil
}

func TestPlaceFetch(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		ctx, address := context.Background(), s.address(t)
		st := open(t, address)
		if err := st.Fetch(ctx, filepath.Join(t.TempDir(), "x")); err == nil || !strings.HasPrefix(err.Error(), st.Name()) {
			t.Errorf("an empty store: %v", err)
		}
		config := filepath.Join("..", "..", "..", "..", "testdata", "claude", "config")
		no := errors.New("no")
		if _, err := st.Place(ctx, config, home.PlaceOptions{Lost: func([]loss.Group) error { return no }}); !errors.Is(err, no) {
			t.Errorf("losses that are not accepted: %v", err)
		} else if err := st.Fetch(ctx, filepath.Join(t.TempDir(), "x")); err == nil {
			t.Error("placed with losses that are not accepted")
		}
		lost, want := codes{}, codes{loss.ServerLine, loss.ServerFile}
		placed, err := st.Place(ctx, config, home.PlaceOptions{Lost: lost.take})
		if s.json != nil {
			want = append(want, loss.ServerSpelling)
		}
		if slices.Sort(lost); err != nil || placed.Documents != 56 || placed.Backup != "" || !slices.Equal(lost, want) {
			t.Fatalf("%+v, losses %v, want %v; %v", placed, lost, want, err)
		}
		if !holds(t, address, config) {
			t.Error("other entries than were placed")
		}
		dir, notes := fetch(t, address)
		if l, err := formats.Locate(dir); err != nil {
			t.Error(err)
		} else if found, err := all.Registry().Detect(ctx, l); err != nil || len(found) == 0 || found[0].Format.Name != st.Format() {
			t.Errorf("%v, %v", found, err)
		}
		if len(notes) > 0 {
			t.Errorf("left out: %q", notes)
		}
		// What is there already stays, and other sessions are added to it.
		if again, err := st.Place(ctx, config, home.PlaceOptions{Replace: true}); err != nil || again.Documents != 56 || again.Backup != "" {
			t.Errorf("again: %+v, %v", again, err)
		}
		more := write(t, map[string]string{"projects/other/s.jsonl": `{"type":"user","uuid":"1"}`})
		if _, err := st.Place(ctx, more, home.PlaceOptions{}); err != nil {
			t.Error(err)
		}
		if !holds(t, address+with(address)+"project=other", more) || !holds(t, address+with(address)+"project=-home-ann-app", config) {
			t.Error("projects are mixed")
		}
	})
}

// with returns what joins an option to an address.
func with(address string) string {
	if strings.Contains(address, "?") {
		return "&"
	}
	return "?"
}

func TestReplace(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		ctx, address := context.Background(), s.address(t)
		one := map[string]string{"projects/p/s.jsonl": `{"type":"user","n":1}`, "projects/p/s/subagents/agent-a.jsonl": `{"n":2}`}
		two := map[string]string{"projects/p/s.jsonl": "{\"type\":\"user\",\"n\":1}\n{\"n\":3}", "projects/p/new.jsonl": `{"n":4}`}
		first, second := write(t, one), write(t, two)
		if _, err := open(t, address).Place(ctx, first, home.PlaceOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := open(t, address).Place(ctx, second, home.PlaceOptions{})
		if !errors.Is(err, formats.ErrExists) || !strings.Contains(err.Error(), `"p/s"`) || !strings.Contains(formats.Hint(err), "--replace") {
			t.Errorf("an occupied session: %v", err)
		}
		if !holds(t, address, first) {
			t.Error("a refused placement left something")
		}
		placed, err := open(t, address).Place(ctx, second, home.PlaceOptions{Replace: true})
		if err != nil || placed.Backup == "" || placed.Documents != 3 {
			t.Fatalf("%+v, %v", placed, err)
		}
		if !holds(t, address, second) {
			t.Error("not replaced")
		}
		if !holds(t, backupAddress(address, placed.Backup), first) {
			t.Error("the backup is not what was there")
		}
		if placed, err := open(t, address).Place(ctx, first, home.PlaceOptions{Replace: true}); err != nil || !holds(t, backupAddress(address, placed.Backup), write(t, map[string]string{"projects/p/s.jsonl": two["projects/p/s.jsonl"]})) {
			t.Errorf("a second backup: %+v, %v", placed, err)
		}
	})
}

// TestHostileNames reads what anybody who can write to a store could name.
func TestHostileNames(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		address := s.address(t)
		const id = "20000000-0000-4000-8000-000000000001"
		want := map[key][]string{}
		for _, k := range []key{
			{"p", id, ""}, {"p", id, "subagents/agent-a"}, {"..", id, "../../../x"}, {"p\x01\x1b[31m", id, "a\nb"}, {"tenant/7", id, ""},
			{"p", id, ".."}, {"p", id, "CON/…/é"}, {"%41", id, ""}, {"P", id, ""},
		} {
			if s.insert(t, address, k, `{"type":"user","x":1}`) {
				want[k] = []string{`{"type":"user","x":1}`}
			}
		}
		dir, _ := fetch(t, address)
		got, _, err := load(dir, "")
		if err != nil || !reflect.DeepEqual(digests(got), digests(want)) {
			t.Errorf("%v\n%q", err, got)
		}
		if list, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(list) != 1 {
			t.Errorf("outside of the folder: %v, %v", list, err)
		}
		other := s.address(t)
		if _, err := open(t, other).Place(context.Background(), dir, home.PlaceOptions{}); err != nil {
			t.Error(err)
		} else if !holds(t, other, dir) {
			t.Error("the names have changed")
		}
		if !s.insert(t, address, key{"p", strings.Repeat("x/", 20) + strings.Repeat("x", 240), ""}, `{}`) {
			t.Fatal("a name that no file can have")
		}
		at := filepath.Join(t.TempDir(), "x")
		err = open(t, address).Fetch(context.Background(), at)
		if _, gone := os.Stat(at); err == nil || len(err.Error()) > 600 || gone == nil {
			t.Errorf("a name that no file can have: %v, left %v", err, gone)
		}
	})
}

// TestUnholdable places entries that jsonb refuses or changes.
func TestUnholdable(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		for _, c := range []struct{ line, refused, lost string }{
			{`{"a":"\u0000"}`, "U+0000", ""}, {`{"a":"x\ud800y"}`, "surrogate", ""}, {`{"a":1e400000}`, "out of range", ""},
			{`{"a":1,"a":2}`, "", "L556 L554"}, {`{"a":-0}`, "", "L556 L555"}, {`{"a":1.0,"b":123456789012345678901234567890,"c":"\\u0000"}`, "", "L556"},
		} {
			ctx, address := context.Background(), s.address(t)
			dir := write(t, map[string]string{"projects/p/a.jsonl": `{"n":1}`, "projects/p/s.jsonl": `{"n":1}` + "\n" + c.line})
			if s.exact {
				c.refused, c.lost = "", ""
			}
			lost := codes{}
			placed, err := open(t, address).Place(ctx, dir, home.PlaceOptions{Lost: lost.take})
			switch {
			case c.refused != "":
				if err == nil || !strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), "s.jsonl:2") {
					t.Errorf("%s: %v", c.line, err)
				}
				if err := open(t, address).Fetch(ctx, filepath.Join(t.TempDir(), "x")); err == nil {
					t.Errorf("%s: something was placed", c.line)
				}
				s.json(t, address)
				if _, err := open(t, address).Place(ctx, dir, home.PlaceOptions{}); err != nil || !holds(t, address, dir) {
					t.Errorf("%s, in a column of type json: %v", c.line, err)
				}
			case err != nil || placed.Documents != 3 || fmt.Sprint(lost) != "["+c.lost+"]":
				t.Errorf("%s: %+v, losses %v, want %s; %v", c.line, placed, lost, c.lost, err)
			case !holds(t, address, dir):
				t.Errorf("%s: changed", c.line)
			}
		}
	})
}

// TestRandom places and fetches what nobody would write.
func TestRandom(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("REHOME_TEST_ROUNDS"))
	each(t, func(t *testing.T, s server) {
		for seed := range uint64(max(rounds, 5)) {
			r := rand.New(rand.NewPCG(seed, 1))
			files := map[string]string{}
			for i := range 1 + r.IntN(5) {
				for _, name := range []string{"", "/subagents/agent-x", "/subagents/w/agent-y"}[:1+r.IntN(3)] {
					var b strings.Builder
					for range 1 + r.IntN(40) {
						b.WriteString(randomObject(r, 3) + "\n")
					}
					files[fmt.Sprintf("projects/p%d/s%d%s.jsonl", r.IntN(2), i, name)] = b.String()
				}
			}
			dir, address := write(t, files), s.address(t)
			if _, err := open(t, address).Place(context.Background(), dir, home.PlaceOptions{}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !holds(t, address, dir) {
				t.Fatalf("seed %d: other entries than were placed", seed)
			}
		}
	})
}

func randomObject(r *rand.Rand, depth int) string {
	var parts []string
	for range r.IntN(5) {
		value := []string{"null", "-0.5e-7", "1.0", "123456789012345678901234567890", `"\ud83d\ude00\\\"\/\t"`, `"\t é ☃"`, "[]", "{}", "true"}[r.IntN(9)]
		value = strings.ReplaceAll(value, "\t", "")
		if depth > 0 && r.IntN(3) == 0 {
			value = "[" + randomObject(r, depth-1) + " ,\t" + randomObject(r, depth-1) + "]"
		}
		parts = append(parts, fmt.Sprintf(`"%s%d" : %s`, []string{"type", "b", "\\u0061", "é"}[r.IntN(4)], len(parts), value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// TestKilledPlace kills placements at random moments: each session is as before or placed, and
// the next run completes it.
func TestKilledPlace(t *testing.T) {
	if dir := os.Getenv("REHOME_TEST_VICTIM"); dir != "" {
		_, err := open(t, os.Getenv("REHOME_TEST_ADDRESS")).Place(context.Background(), dir, home.PlaceOptions{Replace: true})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	rounds, _ := strconv.Atoi(os.Getenv("REHOME_TEST_ROUNDS"))
	each(t, func(t *testing.T, s server) {
		old, files := map[string]string{}, map[string]string{}
		for i := range 6 {
			text := strings.Repeat(fmt.Sprintf(`{"type":"user","n":%d,"text":"%s"}`+"\n", i, strings.Repeat("x", 500)), 600)
			files[fmt.Sprintf("projects/p/s%d.jsonl", i)], files[fmt.Sprintf("projects/p/s%d/subagents/agent-a.jsonl", i)] = text, text
			if i < 2 {
				old[fmt.Sprintf("projects/p/s%d.jsonl", i)] = `{"type":"user","old":true}`
			}
		}
		before, dir := write(t, old), write(t, files)
		a, _, err := load(before, "")
		b, _, also := load(dir, "")
		if err = errors.Join(err, also); err != nil {
			t.Fatal(err)
		}
		was, is := digests(a), digests(b)
		killed, longest := 0, 2*time.Second
		for round := range max(rounds, 3) {
			address := s.address(t)
			if _, err := open(t, address).Place(context.Background(), before, home.PlaceOptions{}); err != nil {
				t.Fatal(err)
			}
			for try := range 3 {
				c := exec.Command(os.Args[0], "-test.run=^TestKilledPlace$")
				c.Env = append(os.Environ(), "REHOME_TEST_VICTIM="+dir, "REHOME_TEST_ADDRESS="+address)
				start := time.Now()
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				stop := time.AfterFunc(time.Duration(rand.Int64N(int64(longest))), func() { c.Process.Kill() })
				if c.Wait() == nil {
					longest = time.Since(start)
					stop.Stop()
				} else {
					killed++
				}
				state := map[key][]digest{}
				if out := filepath.Join(t.TempDir(), strconv.Itoa(try)); open(t, address).Fetch(context.Background(), out) == nil {
					got, _, err := load(out, "")
					if err != nil {
						t.Fatal(err)
					}
					state = digests(got)
				}
				if s.atomic && !reflect.DeepEqual(state, was) && !reflect.DeepEqual(state, is) {
					t.Fatalf("round %d: neither the old sessions nor the new ones", round)
				}
				for i := range 6 {
					k := key{"p", fmt.Sprintf("s%d", i), ""}
					if n := len(state[k]); n > 0 && !reflect.DeepEqual(state[k], was[k]) && !reflect.DeepEqual(state[k], is[k]) {
						t.Fatalf("round %d: %v has %d entries", round, k, n)
					}
					agent := key{"p", k.Session, "subagents/agent-a"}
					if reflect.DeepEqual(state[k], is[k]) && !reflect.DeepEqual(state[agent], is[agent]) {
						t.Fatalf("round %d: %v is there without its subagent", round, k)
					}
				}
			}
			if _, err := open(t, address).Place(context.Background(), dir, home.PlaceOptions{Replace: true}); err != nil || !holds(t, address, dir) {
				t.Fatalf("round %d: not completed: %v", round, err)
			}
		}
		t.Logf("%d killed", killed)
	})
}

// TestAppended adds entries as a client does after a session was placed, one of the future, too.
func TestAppended(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		address, k := s.address(t), key{"p", "20000000-0000-4000-8000-000000000001", ""}
		lines := []string{`{"type":"user","timestamp":"2099-01-01T00:00:00Z"}`, `{"type":"user","timestamp":"2026-01-01T00:00:00Z"}`, `{"n":1}`}
		dir := write(t, map[string]string{"projects/p/" + k.Session + ".jsonl": strings.Join(lines, "\n")})
		if _, err := open(t, address).Place(context.Background(), dir, home.PlaceOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // the clock that orders parts
		s.insert(t, address, k, `{"n":2}`)
		dir, _ = fetch(t, address)
		got, _, err := load(dir, "")
		if want := digests(map[key][]string{k: append(lines, `{"n":2}`)}); err != nil || !reflect.DeepEqual(digests(got), want) {
			t.Errorf("%v: %q", err, got)
		}
	})
}

// TestAtOnce places the same sessions several times at once.
func TestAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		files := map[string]string{}
		for i := range 5 {
			text := strings.Repeat(fmt.Sprintf(`{"type":"user","n":%d,"timestamp":"2026-01-01T00:00:00Z"}`+"\n", i), 50)
			files[fmt.Sprintf("projects/p/s%d.jsonl", i)], files[fmt.Sprintf("projects/p/s%d/subagents/agent-a.jsonl", i)] = text, text
		}
		address, dir := s.address(t), write(t, files)
		var runs sync.WaitGroup
		for range 4 {
			st := open(t, address)
			runs.Go(func() {
				if _, err := st.Place(context.Background(), dir, home.PlaceOptions{}); err != nil {
					t.Logf("another run was faster: %v", err)
				}
			})
		}
		runs.Wait()
		if _, err := open(t, address).Place(context.Background(), dir, home.PlaceOptions{}); err != nil || !holds(t, address, dir) {
			t.Errorf("not complete, or more than once: %v", err)
		}
	})
}

// TestNoSecrets asks for errors of every kind and looks for the password.
func TestNoSecrets(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		scheme, _, _ := strings.Cut(s.address(t), "://")
		if !slices.Contains(Schemes(), scheme) {
			t.Errorf("%s is not one of %q", scheme, Schemes())
		}
		for _, address := range []string{"://u:hunter2@127.0.0.1:1/x", "://u:hunter2@127.0.0.1:1x/x", "://u:hunter2@nowhere.invalid/x?table=%00&sslmode=hunter2", "://u:hunter2%zz@h/x", "://127.0.0.1:1/x?password=hunter2&x=hunter2",
			"://u:p@hunter2@127.0.0.1:1/x", "://u:1/hunter2@127.0.0.1/x", "://u:1?hunter2@127.0.0.1/x", "://u:1#hunter2@127.0.0.1/x", "://u:%68unter2@127.0.0.1:1/x"} {
			st, err := New(scheme + address)
			if err == nil {
				if strings.Contains(st.Name(), "hunter2") {
					t.Errorf("%s: is named %s", address, st.Name())
				}
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				err = st.Fetch(ctx, filepath.Join(t.TempDir(), "x"))
				cancel()
			}
			if err == nil || strings.Contains(err.Error()+formats.Hint(err), "hunter2") {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
}
