package entries

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var members = []Member{{"all", "id"}, {"ids", ""}, {"map", ""}}

// list returns a value with one list of objects: each is an id and its createdAt.
func list(pairs ...string) string {
	var es []string
	for _, p := range pairs {
		id, at, _ := strings.Cut(p, ":")
		es = append(es, fmt.Sprintf(`{"id":%q,"createdAt":%s}`, id, at))
	}
	return `{"all":[` + strings.Join(es, ",") + `],"x":1}`
}

func split(t *testing.T, value string) (string, []Entry) {
	t.Helper()
	frame, es, ok := Split([]byte(value), members)
	if !ok {
		t.Fatalf("not split: %s", value)
	}
	return string(frame), es
}

// marks returns each entry with its neighbor, in the order of the value.
func marks(es []Entry) string {
	var out []string
	for _, e := range es {
		s := e.ID
		if e.After != "" {
			s = e.After + "<" + s
		}
		if e.Before != "" {
			s += ">" + e.Before
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestMarks(t *testing.T) {
	for value, want := range map[string]string{
		list("d:4", "c:3", "b:2", "a:1"):                                              `d c b a`,
		list("a:1", "b:2", "c:3"):                                                     `a a<b b<c`,
		list("a:1", "d:4", "c:3", "b:2"):                                              `a>d d c b`,
		list("b:2", "a:1", "e:5", "d:4", "c:3"):                                       `b>a a>e e d c`,
		list("e:5", "d:4", "c:3", "f:6"):                                              `e d c c<f`,
		list("e:5", "a:1", "d:4", "f:6", "c:3"):                                       `e a>d d d<f c`,
		list("f:6", "e:5", "a:1", "g:7", "d:4", "c:3"):                                `f e e<a a<g d c`,
		list("b:5", "a:5", "c:5"):                                                     `b b<a c`,
		`{"all":[{"id":"b"},{"id":"a","createdAt":1}]}`:                               `b b<a`,
		`{"all":[{"createdAt":1e999,"id":"b"},{"id":"a","createdAt":"2"}]}`:           `b b<a`, // neither is a time
		`{"all":[{"unixMs":5,"id":"b"},{"unixMs":6,"id":"a"},{"unixMs":4,"id":"c"}]}`: `b a a<c`,
		`{"ids":["b","c","a","d"]}`:                                                   `b c c<a d`,
		`{"map":{"b":[],"a":{"createdAt":7},"c":null}}`:                               `b b<a c`,
		`{"all":[{"id":"a"},{"id":"a"},{"n":"x"},{"id":1}]}`:                          `a a-2 a-2<7f3ca56cfc13e710 eae780b141b62740`,
		`{"ids":["a","b","a"]}`:                                                       `a b b<a-2`,
		`{"all":[],"ids":[]}`:                                                         ``,
	} {
		frame, es := split(t, value)
		if got := marks(es); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
		check(t, value, frame, es)
	}
}

// check joins the entries in every rotation, and expects the value again.
func check(t *testing.T, value, frame string, es []Entry) {
	t.Helper()
	es = slices.Clone(es)
	for range min(len(es), 4) + 1 {
		got, err := Join([]byte(frame), es)
		if err != nil || string(got) != value {
			t.Fatalf("joined: %s, %v\nwant %s", got, err, value)
		}
		if len(es) > 0 {
			es = append(es[1:], es[0])
		}
	}
}

func TestFrame(t *testing.T) {
	value := "{ \"n\": 1.50,\n\"all\":[{\"id\":\"\\u0061\", \"s\":\"\u2028\xff\"},{\"id\":\"b\"}] ,\"ids\":[ \"a\"],\"ids2\":[],\"map\":{\"k\":[1]}}\n"
	frame, es := split(t, value)
	if want := "{ \"n\": 1.50,\n\"all\":[] ,\"ids\":[ \"a\"],\"ids2\":[],\"map\":{}}\n"; frame != want {
		t.Errorf("frame %q", frame)
	}
	want := []Entry{
		{Member: "all", ID: "a", JSON: []byte("{\"id\":\"\\u0061\", \"s\":\"\u2028\xff\"}")},
		{Member: "all", ID: "b", JSON: []byte(`{"id":"b"}`)},
		{Member: "map", ID: "k", JSON: []byte(`[1]`)},
	}
	if !reflect.DeepEqual(es, want) {
		t.Errorf("entries %q", es)
	}
	check(t, value, frame, es)
}

// TestWhole splits values that are lists themselves.
func TestWhole(t *testing.T) {
	whole := []Member{{Name: ""}}
	for value, want := range map[string]string{
		`[{"text":"a"},"b",{"text":"a"},{"text":"c"},{"text":"a"}]`: `24799cbd98bbe47f b b<24799cbd98bbe47f-2 24799cbd98bbe47f-2<7bdca6c8756d0d32 7bdca6c8756d0d32<24799cbd98bbe47f-3`,
		`{"b":1,"a":2}`: `b b<a`,
		`[]`:            ``,
	} {
		frame, es, ok := Split([]byte(value), whole)
		if got := marks(es); !ok || got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
		check(t, value, string(frame), es)
	}
	for _, value := range []string{` []`, `[1]`, `[{"a":1},{"a":1} ]`, `"a"`, `[]]`, `[[]]`} {
		if frame, _, ok := Split([]byte(value), whole); ok {
			t.Errorf("%s: %s", value, frame)
		}
	}
	if _, es, ok := Split([]byte(`[{"id":"b"}]`), []Member{{"", "id"}}); !ok || marks(es) != "b" {
		t.Errorf("%v: %s", ok, marks(es))
	}
}

func TestNotSplit(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, value := range []string{
		``, `null`, `[]`, `"all"`, `{`, `{"all":[]}}`, `{}`, `{"x":{"all":[]}}`, `[{"all":[]}]`,
		`{"all":null}`, `{"all":"[]"}`, `{"all":[ ]}`, `{"all":[{"id":"a"} ]}`, `{"all":[{"id":"a"},{"id":"a"},{"id":"a-2"}]}`,
		"{\"all\":[{\"id\":\"a\"},\n{\"id\":\"b\"}]}",
		`{"all":["a"]}`, `{"all":[1]}`,
		`{"all":[{"id":"\ud800"}]}`, "{\"all\":[{\"id\":\"\xff\"}]}", `{"all":[],"all":[]}`, `{"all":[],"a\u006cl":[]}`,
		`{"all":[{"id":"a","x":` + deep + `}]}`,
		`{"ids":["a","a","a-2"]}`, `{"ids":[["a"]]}`, `{"ids":[""]}`, `{"map":{"a":1,"a":2}}`, `{"map":{"\u0061":1}}`, `{"map":{"a": 1}}`, `{"map":{"":1}}`,
		`{"ids":[` + strings.Repeat(`"a",`, maxEntries) + `"b"]}`,
	} {
		if frame, es, ok := Split([]byte(value), members); ok || frame != nil || es != nil {
			t.Errorf("split %.80q: %q, %d entries", value, frame, len(es))
		}
	}
}

// TestInsert inserts an entry at one end of a list, and expects that no other entry
// changes, and that what two people insert is joined.
func TestInsert(t *testing.T) {
	sorted := []string{"d:4", "c:3", "b:2", "a:1"}
	grown := []string{"a:1", "b:2", "c:3", "d:4"}
	mixed := []string{"b:2", "d:4", "g:7", "c:3", "f:6", "a:1", "e:5"}
	for _, base := range [][]string{{}, {"c:3"}, sorted, grown, mixed} {
		for _, front := range []bool{true, false} {
			insert := func(p ...string) []string {
				if front {
					return append(p, base...)
				}
				return append(slices.Clone(base), p...)
			}
			frame, before := split(t, list(base...))
			union := before
			for _, p := range []string{"x:90", "y:80"} {
				frame2, after := split(t, list(insert(p)...))
				one := after[len(after)-1]
				rest := after[:len(after)-1]
				if front {
					one, rest = after[0], after[1:]
				}
				if frame2 != frame || !reflect.DeepEqual(append([]Entry{}, rest...), append([]Entry{}, before...)) || one.ID != p[:1] {
					t.Errorf("%v, front %v: %s became %s", base, front, marks(before), marks(after))
				}
				union = append(slices.Clone(union), one)
			}
			got, err := Join([]byte(frame), union)
			want := list(insert("x:90", "y:80")...)
			if !front && len(base) > 0 {
				want = list(insert("y:80", "x:90")...)
			}
			if err != nil || string(got) != want {
				t.Errorf("%v, front %v: joined %s, %v", base, front, got, err)
			}
		}
	}
	ids := func(s string) string { return `{"ids":["` + strings.Join(strings.Split(s, ""), `","`) + `"]}` }
	frame, before := split(t, ids("kbxcm"))
	union := before
	for _, id := range []string{"a", "z"} {
		_, after := split(t, ids("kbxcm"+id))
		if !reflect.DeepEqual(after[:5], before) {
			t.Errorf("%s: %s became %s", id, marks(before), marks(after))
		}
		union = append(slices.Clone(union), after[5])
	}
	if got, err := Join([]byte(frame), union); err != nil || string(got) != ids("kbxcmaz") {
		t.Errorf("%s: %v", got, err)
	}
}

// TestMoved expects that moving one entry changes few others: itself, and the one that
// named it or now does.
func TestMoved(t *testing.T) {
	var base []string
	for i := range 100 {
		base = append(base, fmt.Sprintf("%03d:%d", i, 1000-i))
	}
	_, before := split(t, list(base...))
	moved := append([]string{base[70]}, slices.Delete(slices.Clone(base), 70, 71)...)
	_, after := split(t, list(moved...))
	if got := changed(before, after); got != "070" {
		t.Errorf("changed: %s", got)
	}
	for p, want := range map[string]string{"new:5000": "new", "old:1": "old"} {
		_, more := split(t, list(append([]string{p}, moved...)...))
		if got := changed(after, more); got != want {
			t.Errorf("changed by %s: %s", p, got)
		}
	}
}

// changed returns the ids of the entries that are new or different.
func changed(before, after []Entry) string {
	was := map[string]Entry{}
	for _, e := range before {
		was[e.ID] = e
	}
	var out []string
	for _, e := range after {
		if !reflect.DeepEqual(was[e.ID], e) {
			out = append(out, e.ID)
		}
	}
	return strings.Join(out, " ")
}

func TestJoinMerged(t *testing.T) {
	entry := func(id string, at int, after, before string) Entry {
		return Entry{Member: "all", ID: id, After: after, Before: before, JSON: fmt.Appendf(nil, `{"id":%q,"createdAt":%d}`, id, at)}
	}
	for want, es := range map[string][]Entry{
		"d x b":         {entry("b", 2, "", ""), entry("d", 4, "", ""), entry("x", 3, "gone", "")},
		"d b":           {entry("b", 2, "", "gone"), entry("d", 4, "", "")},
		"z d x y b":     {entry("b", 2, "", ""), entry("d", 4, "", ""), entry("x", 8, "d", ""), entry("y", 9, "d", ""), entry("z", 1, "", "d")},
		"a b c":         {entry("a", 9, "c", ""), entry("b", 5, "a", ""), entry("c", 1, "b", "")},
		"c b a":         {entry("a", 9, "", "c"), entry("b", 5, "", "a"), entry("c", 1, "", "b")},
		"b a":           {entry("a", 2, "", "a"), entry("b", 5, "b", "")},
		"b a d":         {entry("a", 9, "b", ""), entry("b", 5, "", "a"), entry("d", 1, "a", "a")},
		"p r2 r1 q2 q1": {entry("p", 1, "", ""), entry("q1", 5, "q2", ""), entry("q2", 4, "p", ""), entry("r1", 3, "r2", ""), entry("r2", 2, "p", "")},
	} {
		var got []string
		for range 3 {
			value, err := Join([]byte(`{"all":[]}`), es)
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			_, back := split(t, string(value))
			for _, e := range back {
				got = append(got, e.ID)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %s", want, got)
			}
			es = append(es[1:], es[0])
		}
	}
}

func TestJoinErrors(t *testing.T) {
	a := Entry{Member: "all", ID: "a", JSON: []byte(`{"id":"a"}`)}
	with := func(f func(e *Entry)) Entry {
		e := a
		f(&e)
		return e
	}
	for want, c := range map[string]struct {
		frame string
		list  []Entry
	}{
		`two entries of "all" have the id "a"`: {`{"all":[]}`, []Entry{a, a}},
		`no empty list "all" for entry "a"`:    {`{"all":[{"id":"b"}]}`, []Entry{a}},
		`no empty list "b" for`:                {`{"all":[]}`, []Entry{a, with(func(e *Entry) { e.Member = "b" })}},
		`no empty list "all" for`:              {`{"all":[],"all":[]}`, []Entry{a}},
		`unexpected end of JSON`:               {`{"all":[]`, []Entry{a}},
		`entry "a" of "all" has an invalid id`: {`{"all":[]}`, []Entry{with(func(e *Entry) { e.JSON = []byte(`1,2`) })}},
		`entry "" of "all" has an invalid id`:  {`{"all":[]}`, []Entry{with(func(e *Entry) { e.ID = "" })}},
		`entry "\xff" of "all" has an invalid`: {`{"map":{}}`, []Entry{with(func(e *Entry) { e.ID = "\xff" })}},
	} {
		if got, err := Join([]byte(c.frame), c.list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", want, got, err)
		}
	}
}

// TestRandom splits and joins lists in random order, which has all kinds of marks.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var pairs []string
		for i := range r.IntN(12) {
			pairs = append(pairs, fmt.Sprintf("%c%d:%d", 'a'+r.IntN(26), i, r.IntN(8)))
		}
		value := list(pairs...)
		frame, es := split(t, value)
		r.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
		if got, err := Join([]byte(frame), es); err != nil || string(got) != value {
			t.Fatalf("%s: %s, %v", value, got, err)
		}
	}
}

// TestLong joins a list in which every entry names the one before it, and one in which
// they name each other in a cycle.
func TestLong(t *testing.T) {
	var pairs []string
	for i := range 50_000 {
		pairs = append(pairs, fmt.Sprintf("e%d:%d", i, i))
	}
	value := list(pairs...)
	frame, es := split(t, value)
	check(t, value, frame, es)
	es[0].After = es[len(es)-1].ID
	if got, err := Join([]byte(frame), es); err != nil || len(got) != len(value) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{list("a:1", "d:4", "c:3"), list("b:2", "a:1", "e:5", "d:4", "c:3"), `{"ids":["b","c","a"],"map":{"b":1,"a":2}}`, `{"all":[{"id":"\ud83d\ude00"}]}`, `{"all":[{"id":"a"} ]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, m := range [][]Member{members, {{"", ""}}} {
			frame, es, ok := Split([]byte(value), m)
			if !ok {
				continue
			}
			slices.Reverse(es)
			got, err := Join(frame, es)
			if err != nil || string(got) != value {
				t.Fatalf("%q: %q, %v", value, got, err)
			}
		}
	})
}

// FuzzJoin joins entries that nobody has split: any order of ids and neighbors has a
// result with every entry, whatever the order they are given in.
func FuzzJoin(f *testing.F) {
	f.Add("abc", "bca", uint8(0))
	f.Add("abcd", "a b ", uint8(5))
	f.Add("ab", "ba", uint8(2))
	f.Fuzz(func(t *testing.T, ids, neighbors string, side uint8) {
		var es []Entry
		for i := range min(len(ids), len(neighbors), 8) {
			e := Entry{Member: "ids", ID: fmt.Sprintf("%02x", ids[i]), After: fmt.Sprintf("%02x", neighbors[i])}
			if side>>i&1 == 1 {
				e.After, e.Before = "", e.After
			}
			e.JSON = fmt.Appendf(nil, "%q", e.ID)
			es = append(es, e)
		}
		one, err := Join([]byte(`{"ids":[]}`), es)
		slices.Reverse(es)
		two, err2 := Join([]byte(`{"ids":[]}`), es)
		if (err == nil) != (err2 == nil) || err == nil && string(one) != string(two) {
			t.Fatalf("%v: %s, %v; %s, %v", es, one, err, two, err2)
		}
		if _, back, ok := Split(one, members); err == nil && (!ok || len(back) != len(es)) {
			t.Fatalf("%v: %s", es, one)
		}
	})
}
