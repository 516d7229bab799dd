package claude

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestInspect(t *testing.T) {
	none := traits{}
	cases := []struct {
		a, b string // the same value
		want traits // of a
	}{
		{`{"type":"user","n":[1,{"b":2,"a":null}]}`, ` { "n" : [ 1.0 , {"a":null,"b":20e-1} ] , "type":"user" } `, none},
		{`{"a":"\u00e9\ud83d\ude00\/\n"}`, `{"a":"é😀/\u000a"}`, none},
		{`{"a":123456789012345678901234567890}`, `{"a":1.2345678901234567890123456789e29}`, none},
		{`{"a":1,"a":2}`, `{"a":2}`, traits{Doubled: true}},
		{`{"a":-0.0}`, `{"a":0}`, traits{MinusZero: true}},
		{`{"a":"\u0000"}`, `{"a":"\u0000"}`, traits{Null: true}},
		{`{"a":"\\u0000"}`, `{"a":"\u005cu0000"}`, none},
		{`{"a":"\ud83d"}`, `{"a":"\uD83D"}`, traits{Lone: true}},
		{`{"a":"\ud83dx\ude00"}`, `{"a":"\uD83D\u0078\uDE00"}`, traits{Lone: true}},
		{`{"a":"\ude00\ud83d\ude00"}`, `{"a":"\uDE00😀"}`, traits{Lone: true}},
		{"{\"a\":\"\xff\"}", "{\"a\":\"\xff\"}", traits{Bytes: true}},
		{`{"a":1e400000}`, `{"a":1e400000}`, traits{Range: true}},
		{`{"a":1e99999999999999999999}`, `{"a":1e99999999999999999999}`, traits{Range: true}},
		{`{"a":0e5,"":{}}`, `{"a":0,"":{}}`, none},
	}
	for _, c := range cases {
		a, ok := inspect([]byte(c.a))
		b, also := inspect([]byte(c.b))
		if !ok || !also || a.Sum != b.Sum || a.traits != c.want {
			t.Errorf("%s: %v %v, equal %v, %+v; want %+v", c.a, ok, also, a.Sum == b.Sum, a.traits, c.want)
		}
	}
	values := []string{`{}`, `{"a":[]}`, `{"a":{}}`, `{"a":1}`, `{"a":-1}`, `{"a":10}`, `{"a":"1"}`, `{"a":"null"}`, `{"a":null}`, `{"b":null}`, `{"a":[1,2]}`, `{"a":[2,1]}`,
		`{"a":[[1],2]}`, `{"a":["\ud83d"]}`, `{"a":["\ufffd"]}`, `{"a":["\ude00"]}`, `{"a":true}`, `{"a":"true"}`, `{"":1}`, `{"a":[""]}`}
	seen := map[digest]string{}
	for _, v := range values {
		e, ok := inspect([]byte(v))
		if !ok || seen[e.Sum] != "" {
			t.Errorf("%s: %v, like %s", v, ok, seen[e.Sum])
		}
		seen[e.Sum] = v
	}
	for _, v := range []string{``, ` `, `[]`, `1`, `{"a":1`, `{"a":1}x`, `{"a"`, "\ufeff{}", strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)} {
		if _, ok := inspect([]byte(v)); ok {
			t.Errorf("%.20q is an object", v)
		}
	}
}

func TestMembers(t *testing.T) {
	for _, c := range [][4]string{ // an entry, with its type first, as a description, and its time
		{`{"a":1,"type":"user","timestamp":"2026-01-02T03:04:05.678Z"}`, `{"type":"user","a":1,"timestamp":"2026-01-02T03:04:05.678Z"}`, ``, `2026-01-02T03:04:05.678Z`},
		{`{"type":"agent_metadata"}`, `{"type":"agent_metadata"}`, `{}`, ``},
		{`{"a":{"type":"x"},"type":"agent_metadata"}`, `{"type":"agent_metadata","a":{"type":"x"}}`, `{"a":{"type":"x"}}`, ``},
		{`{"type":"agent_metadata","a":1,"timestamp":5}`, `{"type":"agent_metadata","a":1,"timestamp":5}`, `{"a":1,"timestamp":5}`, ``},
		{`{"message":{"type":"agent_metadata"},"timestamp":"9999999-01-01T00:00:00Z"}`, `{"message":{"type":"agent_metadata"},"timestamp":"9999999-01-01T00:00:00Z"}`, ``, ``},
	} {
		e, ok := inspect([]byte(c[0]))
		described, is := e.asMeta()
		at := ""
		if !e.Time().IsZero() {
			at = e.Time().Format(time.RFC3339Nano)
		}
		if !ok || string(e.typeFirst()) != c[1] || string(described) != c[2] || is != (c[2] != "") || at != c[3] {
			t.Errorf("%s: %v %s %s %s", c[0], ok, e.typeFirst(), described, at)
		}
		if back, ok := asEntry(described); is && (!ok || string(back) != string(e.typeFirst())) {
			t.Errorf("%s: described by %s", c[0], back)
		}
	}
	for _, b := range []string{``, `[]`, `{"type":1}`, `null`} {
		if _, ok := asEntry([]byte(b)); ok {
			t.Errorf("%s is a description", b)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte(`{"a":["\ud83d\ude00",-1.5e-3,{"b":null}]}`))
	f.Add([]byte(`{"\ud800\u":"\ud800\`))
	f.Fuzz(func(t *testing.T, b []byte) { inspect(b) })
}

// TestMemory inspects an entry that is one list of millions.
func TestMemory(t *testing.T) {
	line := []byte(`{"a":[0` + strings.Repeat(",0", 1<<21) + `]}`)
	for name, f := range map[string]func([]byte) (entry, bool){"inspect": inspect, "outline": outline} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, ok := f(line); !ok {
			t.Error("not an object")
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4*uint64(len(line)) {
			t.Errorf("%s allocates %d bytes for %d", name, used, len(line))
		}
	}
}
