package leaks

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"rehome/golden"
)

// Nothing here prints what was planted: a test's log is kept, too.

func scanner(t testing.TB) *Scanner {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hits(s *Scanner, text string) []Hit {
	var out []Hit
	s.Scan(context.Background(), []byte(text), func(h Hit) { out = append(out, h) })
	return out
}

// TestPlants finds each kind of credential, where it is, once: between words,
// as a line of JSON, and of JSON in JSON.
func TestPlants(t *testing.T) {
	s := scanner(t)
	for _, p := range newPlanter().plants() {
		for depth := range 4 {
			secret := quoted(p.secret, depth)
			head := quoted(prose(700)+"\n"+p.before, depth)
			tail := quoted(p.after+"\n"+prose(300), depth)
			if depth > 0 {
				head, tail = `{"type":"text","text":"`+head, tail+`"}`
			}
			got := hits(s, head+secret+tail)
			if len(got) != 1 {
				t.Errorf("%s at depth %d: %d hits", p.rule, depth, len(got))
				continue
			}
			h := got[0]
			if h.Rule != p.rule || h.Offset != int64(len(head)) || h.Length != int64(len(secret)) {
				t.Errorf("%s at depth %d: %s at %d, %d bytes; want %d, %d", p.rule, depth, h.Rule, h.Offset, h.Length, len(head), len(secret))
			}
			if h.Title == "" {
				t.Errorf("%s has no title", h.Rule)
			}
		}
	}
}

// TestLarge plants across the edges of what is searched at once, and in
// between, with a word of a rule at every place around them.
func TestLarge(t *testing.T) {
	s := scanner(t)
	plants := newPlanter().plants()
	for _, p := range plants {
		for _, shift := range []int{-len(p.secret) - 1, -len(p.secret) / 2, -3, -1, 0, 1} {
			at := chunkSize + shift - len(p.before)
			text := prose(at-1) + "\n" + p.before + p.secret + p.after + "\n" + prose(chunkSize/2)
			got := hits(s, text)
			if len(got) != 1 || got[0].Rule != p.rule || got[0].Offset != int64(at+len(p.before)) || got[0].Length != int64(len(p.secret)) {
				t.Errorf("%s shifted by %d: %d hits", p.rule, shift, len(got))
			}
		}
	}
	var all strings.Builder
	for _, p := range plants {
		all.WriteString(prose(50_000) + "\n" + p.before + p.secret + p.after + "\n")
	}
	got := hits(s, all.String())
	if len(got) != len(plants) {
		t.Fatalf("%d hits for %d credentials", len(got), len(plants))
	}
	for i, h := range got {
		if h.Rule != plants[i].rule {
			t.Errorf("hit %d is of %s, want %s", i, h.Rule, plants[i].rule)
		}
	}
}

// TestEdges are credentials at the ends of the bytes, twice in a row, and
// behind every escape.
func TestEdges(t *testing.T) {
	s := scanner(t)
	p := newPlanter()
	key := word("AK", "IA", p.some(16, upper+"234567"))
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"alone":             {key, 1},
		"twice":             {key + " " + key, 2},
		"part of a word":    {"x" + key, 0},
		"going on":          {key + "x", 0},
		"behind \\n":        {`text\n` + key + `\n`, 1},
		"behind \\r\\n":     {`text\r\n` + key + `\r\n`, 1},
		"behind \\t":        {`\t` + key, 1},
		"behind \\\"":       {`{\"id\":\"` + key + `\"}`, 1},
		"behind \\u0022":    {`\u0022` + key + `\u0022`, 1},
		"behind \\u0041":    {`\u0041` + key, 0},
		"behind a path":     {`C:\\keys\\` + key, 1},
		"behind \\\\\\n":    {`\\\n` + key + `\\\n`, 1},
		"not quite escaped": {`\u00zz` + key, 0},
		"torn escape":       {key + `\`, 1},
	} {
		if got := hits(s, c.text); len(got) != c.want {
			t.Errorf("%s: %d hits, want %d", name, len(got), c.want)
		}
	}
}

// TestOrdinary is what sessions are full of and what is no credential.
func TestOrdinary(t *testing.T) {
	s := scanner(t)
	p := newPlanter()
	uuid := p.uuid()
	for _, text := range []string{
		`"key":"` + p.some(64, hexes) + `"`,
		`"cacheKey":"` + p.some(40, hexes) + `"`,
		`"authorization_id": "` + uuid + `"`,
		`"token":"agent-` + uuid + `"`,
		`"api_token_id":"run-` + uuid + `"`,
		`"apiRequestId":"req_` + p.some(24, alnum) + `"`,
		`"api_call": "toolu_` + p.some(24, alnum) + `"`,
		`{"type":"thinking","thinking":"The key is","signature":"` + p.some(800, alnum+"+/") + `=="}`,
		`{"blobs":{"` + p.some(43, alnum+"+/") + `=":"` + p.some(400, alnum+"+/") + `"}}`,
		`"token_count":12345678901234567890,"access":"read-write-execute"`,
		`the key is to call getAccessTokenFromStore(session), then api.`,
		`api_key = os.environ["SERVICE_API_KEY"]`,
		`password: ${SERVICE_PASSWORD}`,
		strings.Repeat("A", 5000), strings.Repeat("key=", 5000), strings.Repeat(`\`, 5000),
	} {
		for depth := range 2 {
			if got := hits(s, quoted(text, depth)); len(got) != 0 {
				t.Errorf("%s found in %.40s", got[0].Rule, text)
			}
		}
	}
}

// TestDigests: a digest is no credential behind any name, but behind some.
func TestDigests(t *testing.T) {
	s := scanner(t)
	p := newPlanter()
	for name, want := range map[string]int{
		"key": 0, "cache_key": 0, "token": 0, "rootKey": 0,
		"client_secret": 1, "api_key": 1, "accessToken": 1, "password": 1,
	} {
		text := `{"` + name + `":"` + p.some(64, hexes) + `"}`
		if got := hits(s, text); len(got) != want {
			t.Errorf("%s: %d hits, want %d", name, len(got), want)
		}
	}
}

// TestSamples walks the genuine stores of the project, of which none holds a
// credential.
func TestSamples(t *testing.T) {
	s := scanner(t)
	files := 0
	for _, name := range []string{"claude", "sdk", "chat", "stream", "transcript", "ide"} {
		dir := filepath.Join("..", "..", "..", "testdata", name)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files++
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, h := range hits(s, string(b)) {
				t.Errorf("%s: %s at byte %d", path, h.Rule, h.Offset)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 50 {
		t.Errorf("only %d files were seen", files)
	}
}

// TestTogether uses one Scanner from several goroutines.
func TestTogether(t *testing.T) {
	s := scanner(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for _, p := range newPlanter().plants() {
				got := hits(s, prose(100*i+1)+"\n"+p.before+p.secret+p.after+"\n")
				if len(got) != 1 || got[0].Rule != p.rule {
					t.Errorf("%s: %d hits", p.rule, len(got))
				}
			}
		})
	}
	wg.Wait()
}

// TestMemory: a hundred times more text takes no more memory, whether words of
// rules stand in it or not.
func TestMemory(t *testing.T) {
	s := scanner(t)
	text := []byte(strings.Repeat(quoted(prose(2000)+"\nthe key: to this, a token, is api.access.\n", 1), 8<<10))
	taken := func(b []byte) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Scan(t.Context(), b, func(h Hit) { t.Errorf("%s at byte %d", h.Rule, h.Offset) })
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	taken(text[:len(text)/100])
	most := uint64(4 << 20)
	if golden.Race {
		most = 64 * uint64(len(text))
	}
	if n := taken(text); n > most {
		t.Errorf("%d bytes of memory for %d bytes of text", n, len(text))
	}
}

// TestCancel ends a scan between two stretches.
func TestCancel(t *testing.T) {
	s := scanner(t)
	p := newPlanter().plants()[0]
	text := []byte(strings.Repeat(prose(chunkSize)+"\n"+p.secret+"\n", 20))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	s.Scan(ctx, text, func(Hit) { n++; cancel() })
	if n == 0 || n > 2 {
		t.Errorf("%d hits were told; the scan was cancelled at the first", n)
	}
}

// TestSilence looks for the secret in everything that a hit can print.
func TestSilence(t *testing.T) {
	s := scanner(t)
	for _, p := range newPlanter().plants() {
		for _, h := range hits(s, prose(50)+"\n"+p.before+p.secret+p.after+"\n") {
			said := fmt.Sprintf("%v %+v %#v", h, h, h)
			for i := 0; i+8 <= len(p.secret); i++ {
				if strings.Contains(said, p.secret[i:i+8]) {
					t.Fatalf("%s tells a part of what it found", p.rule)
				}
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	s := scanner(f)
	for _, p := range newPlanter().plants() {
		f.Add([]byte(p.before + p.secret + p.after))
		f.Add([]byte(quoted("\n"+p.before+p.secret+p.after+"\n", 2)))
	}
	for _, r := range s.rules {
		f.Add([]byte(strings.Join(r.words, `="\u0022`)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		end := int64(0)
		s.Scan(t.Context(), b, func(h Hit) {
			if h.Offset < end || h.Length <= 0 || h.Offset+h.Length > int64(len(b)) {
				t.Fatalf("%s: %d bytes at %d of %d, behind %d", h.Rule, h.Length, h.Offset, len(b), end)
			}
			end = h.Offset + h.Length
		})
	})
}
