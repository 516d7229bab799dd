package linecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"rehome/internal/rawjson"
)

func newScanner() *scanner { return &scanner{seed: maphash.MakeSeed()} }

// issues scans a value and says what is odd about it.
func issues(t testing.TB, b string) (out []string, bad string) {
	t.Helper()
	s := newScanner()
	_, bad = s.scan([]byte(b))
	for _, i := range s.issues {
		out = append(out, strings.TrimSpace(i.ids[0]+" "+i.pointer))
	}
	return out, bad
}

func TestOddities(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(`"name%d":%d`, i, i)
	}
	many[33] = `"name7":1`
	for in, want := range map[string]string{
		`{"a":1,"b":{"c":[1,2,{"d":"e"}]}}`:                    "",
		`{"a":1,"a":2}`:                                        "RH140 /a",
		`{"a":{"x":[0,{"b":1,"c":2,"b":3}]}}`:                  "RH140 /a/x/1/b",
		`{"a":1,"\u0061":2}`:                                   "RH140 /a",
		`[{"a/b~":1,"a/b~":2},{"a":1},{"a":1}]`:                "RH140 /0/a~1b~0",
		`{"":1,"":2,"":3}`:                                     "RH140 /,RH140 /",
		"{" + strings.Join(many, ",") + "}":                    "RH140 /name7",
		`{"n":9007199254740992,"m":9007199254740993}`:          "RH141 /m",
		`[1152921504606846976,1152921504606847000]`:            "",
		`[1152921504606846977,-9223372036854775809]`:           "RH141 /0,RH141 /1",
		`[0.1000000000000000055,3.141592653589793238462643]`:   "",
		`[1e308,1e309,-1e309,1e-400,5e-324]`:                   "RH141 /1,RH141 /2",
		`{"n":1e5000000}`:                                      "RH142 /n",
		`{"n":[1e-401,1e99999999999999999999999]}`:             "RH142 /n/0,RH142 /n/1",
		`{"n":` + strings.Repeat("9", 1001) + `}`:              "RH142 /n",
		`{"t":"\ud83d\ude00 \\ud83d"}`:                         "",
		`{"t":["a","\ud83d","\ude00","\ud83dx\ude00"]}`:        "RH143 /t/1,RH143 /t/2,RH143 /t/3,RH143 /t/3",
		`{"\ud800":1}`:                                         "RH143",
		`{"x":{"\ud800":1}}`:                                   "RH143 /x",
		`{"` + strings.Repeat("n", 90) + `":9007199254740993}`: "RH141 /" + strings.Repeat("n", 80) + "…",
	} {
		got, bad := issues(t, in)
		if s := strings.Join(got, ","); s != want || bad != "" {
			t.Errorf("%.80s: %q %s, want %q", in, s, bad, want)
		}
	}
}

func TestBroken(t *testing.T) {
	whole := `{"a":["b\n\u00e9",1.5e+3,-0,true,false,null,{}],"c":[]}`
	if _, bad := issues(t, whole); bad != "" {
		t.Fatal(bad)
	}
	for n := range len(whole) {
		if _, bad := issues(t, whole[:n]); bad != rawjson.Truncated {
			t.Errorf("%q: %q, want that it breaks off", whole[:n], bad)
		}
	}
	for _, in := range []string{`{a}`, `{"a" 1}`, `{"a":1 "b":2}`, `[1}`, `{"a":1]`, `[1,]`, `{,}`, `[01]`, `[-x]`, `[1.x]`, `[1ex]`, `["\x"]`, `["\u12g4"]`, "[\"\x01\"]", `[nul1]`, `[+1]`, `[tRue]`, `]`, `}`} {
		if _, bad := issues(t, in); bad == "" || bad == rawjson.Truncated {
			t.Errorf("%q: %q", in, bad)
		}
	}
	deepest := strings.Repeat("[", rawjson.MaxDepth) + strings.Repeat("]", rawjson.MaxDepth)
	if _, bad := issues(t, deepest); bad != "" {
		t.Errorf("%d levels: %s", rawjson.MaxDepth, bad)
	}
	if _, bad := issues(t, "["+deepest+"]"); bad != rawjson.TooDeep {
		t.Errorf("one level more: %q", bad)
	}
	if _, bad := issues(t, strings.Repeat(`{"a":[`, 1e6)); bad != rawjson.TooDeep {
		t.Errorf("a million levels: %q", bad)
	}
}

// A hostile line costs time by its length, and keeps little.
func TestManyNames(t *testing.T) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range 1 << 20 {
		fmt.Fprintf(&b, `"%x":"\ud800",`, i)
	}
	b.WriteString(`"0":9007199254740993}`)
	s := newScanner()
	if _, bad := s.scan(b.Bytes()); bad != "" || len(s.issues) != mostIssues || len(s.members) != mostMembers || cap(s.names) > 2*mostNames {
		t.Errorf("%s: %d issues, %d members, %d names", bad, len(s.issues), len(s.members), cap(s.names))
	}
}

// What the scanner takes is what the library takes, with the same doubles.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":[{},{"b":"\ud800"}]}`, `[1e309,"\u00e9",null]`, `{"a":{"b":{"c":1},"b":2}}`, ` [ 1 , 2 ] `, "\"é\"", `{"":"\\"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !utf8.Valid(b) {
			return
		}
		s := newScanner()
		end, bad := s.scan(b)
		if bad == "" && len(bytes.TrimLeft(b[end:], " \t\r\n")) > 0 {
			bad = "something follows"
		}
		valid := json.Valid(b)
		if (bad == "") != valid && bad != rawjson.TooDeep {
			t.Fatalf("%q: %q, the library says %v", b, bad, valid)
		}
		if !valid {
			return
		}
		twiceHere := false
		for _, i := range s.issues {
			twiceHere = twiceHere || i.ids[0] == "RH140"
		}
		err := rawjson.Unique(b, 1<<20)
		doubles := err != nil && strings.HasPrefix(err.Error(), "duplicate member")
		if len(s.issues) < mostIssues && twiceHere != doubles && (err == nil || doubles) {
			t.Errorf("%q: doubles %v, the library says %v", b, twiceHere, err)
		}
		n := 0
		if bytes.TrimLeft(b, " \t\r\n")[0] == '{' {
			for name, value := range rawjson.Members(b) {
				if n < len(s.members) && (!bytes.Equal(s.members[n].name, name) || !bytes.Equal(s.members[n].value, value)) {
					t.Errorf("%q: member %d is %q: %q, want %q: %q", b, n, s.members[n].name, s.members[n].value, name, value)
				}
				n++
			}
		}
		if n != len(s.members) && n < mostMembers {
			t.Errorf("%q: %d members, want %d", b, len(s.members), n)
		}
	})
}

// prose is text as sessions hold it: a few long strings among many short ones.
func prose(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"parentUuid":"%08x-0000-4000-8000-000000000000","isSidechain":false,"type":"assistant","message":{"id":"msg_%d","role":"assistant","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":%d,"output_tokens":7}},"timestamp":"2026-01-01T00:00:00.000Z"}`+"\n",
			r.Uint32(), r.IntN(1e6), strings.Repeat(`a line of code; "quoted\" and tabs\n`, r.IntN(60)), r.IntN(1e5))
	}
	return b.Bytes()
}

func BenchmarkScan(b *testing.B) {
	text := bytes.ReplaceAll(prose(8<<20), []byte(`"quoted`), []byte(`\"quoted`))
	list := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	s := newScanner()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for _, l := range list {
			if !utf8.Valid(l) {
				b.Fatal("no UTF-8")
			}
			if _, bad := s.scan(l); bad != "" {
				b.Fatal(bad)
			}
		}
	}
}
