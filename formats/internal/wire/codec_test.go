package wire

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/quick"
	"time"
)

// everything holds a field of each kind that a struct can hold.
type everything struct {
	Prompts []ID   `wire:"rootPromptMessagesJson"`
	Pending List   `wire:"pendingToolCalls"`
	Tokens  []byte `wire:"tokenDetails"`
	Summary ID     `wire:"summary"`
	Turns   []ID   `wire:"turns"`
	Mode    uint64 `wire:"mode"`
	Files   List   `wire:"fileStates"`
	Kids    List   `wire:"subagentStates"`
	Branch  []byte `wire:"activeBranchName"`
	Project bool   `wire:"isRootProjectConversation"`
	Unknown
}

func everythingCodec() *Codec[everything] {
	return Bind[everything]("ConversationStateStructure")
}

// random fills a struct. Numbers and bools are sometimes zero, lists empty.
func random(r *rand.Rand) *everything {
	ids := func() (out []ID) {
		for range r.IntN(4) {
			out = append(out, ID{byte(r.Uint32()), 31: 1})
		}
		return out
	}
	text := func() []byte { return bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(200)) }
	e := &everything{Prompts: ids(), Turns: ids(), Mode: r.Uint64N(9), Project: r.IntN(2) > 0, Branch: text()}
	if r.IntN(2) > 0 {
		e.Summary, e.Tokens, e.Branch = ID{1, 2}, text(), nil
	}
	for range r.IntN(4) {
		e.Pending.Add(text())
		e.Kids.AddEntry(text(), text())
		id := ID{3}
		e.Files.AddEntry(text(), id[:])
	}
	return e
}

// values are what a struct holds, whatever it is a view of.
func values(e *everything) []any {
	list := func(l List) (out []string) {
		for b := range l.All() {
			out = append(out, string(b))
		}
		return out
	}
	return []any{e.Prompts, list(e.Pending), string(e.Tokens), e.Tokens == nil, e.Summary, e.Turns, e.Mode, list(e.Files), list(e.Kids), string(e.Branch), e.Branch == nil, e.Project}
}

// TestCodecValues: what is encoded is decoded again, and nothing else with it.
func TestCodecValues(t *testing.T) {
	c, r := everythingCodec(), rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := random(r)
		b := c.Append(nil, want)
		got := c.Decode(b)
		if !reflect.DeepEqual(values(got), values(want)) || got.NonCanonical || len(got.Raw) > 0 {
			t.Fatalf("%x:\n got %v\nwant %v", b, values(got), values(want))
		}
		if again := c.Append(nil, got); !bytes.Equal(again, b) {
			t.Fatalf("%x is encoded as %x", b, again)
		}
	}
}

// TestCodecUnknown: unknown fields are written where they stood.
func TestCodecUnknown(t *testing.T) {
	c, r := everythingCodec(), rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var b []byte
		strange := func() {
			for range max(0, r.IntN(5)-2) {
				b = append(b, [][]byte{vint(999, r.Uint64()), str(17, "text"), str(2, "old"), double(1, 5), bytesField(7, []byte("no id")), bytesField(12, []byte{9}), vint(33, 2)}[r.IntN(7)]...)
			}
		}
		whole := c.Append(nil, random(r))
		for f := Read(whole); f.Next(); {
			strange()
			b = append(b, f.Raw...)
		}
		strange()
		b = append(b, []string{"", "\xff", "{}"}[r.IntN(3)]...)
		got := c.Decode(b)
		if again := c.Append(nil, got); !bytes.Equal(again, b) || got.NonCanonical {
			t.Fatalf("%x is encoded as %x, not canonical: %v", b, again, got.NonCanonical)
		}
		if !bytes.Equal(c.Append(nil, &everything{Unknown: got.Unknown}), got.Raw) {
			t.Fatalf("the unknown fields of %x are %x", b, got.Raw)
		}
	}
}

// TestCodecNonCanonical: a message spelled otherwise is reported, and means the same when
// it is encoded again.
func TestCodecNonCanonical(t *testing.T) {
	c := everythingCodec()
	for _, b := range [][]byte{
		join(vint(10, 1), str(4, "late")),
		join(vint(10, 1), vint(10, 2)),
		join(str(19, "a"), vint(10, 1), str(19, "b"), vint(99, 7)),
		{10 << 3, 0x81, 0x00},
		{10<<3 | 0x80, 0x00, 0x01},
		join(bytesField(5, vint(1, 1)), bytesField(5, vint(2, 2))),
		join(str(4, "a"), vint(10, 0), vint(10, 3), str(4, "b"), str(16, "broken entry"), str(4, "c")),
	} {
		got := c.Decode(b)
		again := c.Decode(c.Append(nil, got))
		if !got.NonCanonical || !reflect.DeepEqual(values(got), values(again)) {
			t.Errorf("%x: not canonical: %v\n got %v\nthen %v", b, got.NonCanonical, values(got), values(again))
		}
	}
	for _, b := range [][]byte{vint(10, 0), vint(33, 0), str(19, ""), bytesField(5), join(vint(10, 1), []byte("{"))} {
		if got := c.Decode(b); got.NonCanonical || !bytes.Equal(c.Append(nil, got), b) {
			t.Errorf("%x is encoded as %x", b, c.Append(nil, got))
		}
	}
}

// TestRelease: a field that is released is an unknown field.
func TestRelease(t *testing.T) {
	c := everythingCodec()
	b := join(str(4, "a"), str(4, "b"), vint(10, 77), vint(50, 1), []byte("{"))
	m := c.Decode(b)
	c.Release(m, "mode")
	c.Release(m, "pendingToolCalls")
	c.Release(m, "summary") // is absent
	if want := join(vint(50, 1), vint(10, 77), str(4, "a"), str(4, "b"), []byte("{")); !bytes.Equal(m.Raw, want) || m.Mode != 0 || m.Pending != nil || m.Fields != 0 || m.Cut != 1 {
		t.Errorf("%x, want %x; %+v", m.Raw, want, m)
	}
	if got := c.Append(nil, m); !bytes.Equal(got, m.Raw) {
		t.Errorf("%x is encoded as %x", m.Raw, got)
	}
}

// TestBindRefuses: a struct that does not match the table is refused.
func TestBindRefuses(t *testing.T) {
	type wrong[T any] struct {
		Field T `wire:"mode"`
		Unknown
	}
	m := Messages().Message("ConversationStateStructure")
	for what, err := range map[string]error{
		"no message":    second(bind[everything](nil, nil)),
		"no field":      second(bind[wrong[uint64]](m, []string{"nothing"})),
		"a wrong type":  second(bind[wrong[[]byte]](m, nil)),
		"an odd type":   second(bind[wrong[int]](m, nil)),
		"no Unknown":    second(bind[struct{}](m, nil)),
		"the same name": second(bind[everything](m, []string{"turns", "turns"})),
	} {
		if err == nil {
			t.Errorf("%s: bound", what)
		}
	}
	if _, err := bind[wrong[uint64]](m, nil); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Bind does not panic")
		}
	}()
	Bind[everything]("ShellArgs")
}

func second[T any](_ T, err error) error { return err }

// TestCodecBounded: a hostile message costs what it weighs.
func TestCodecBounded(t *testing.T) {
	c := everythingCodec()
	for name, one := range map[string][]byte{
		"values of one field": vint(10, 7), "texts of one field": str(19, "x"), "empty values of a list": str(4, ""), "empty entries": str(16, ""), "pieces": bytesField(5, vint(1, 1)),
		"unknown fields": vint(99, 1), "unknown and known": join(str(4, ""), vint(99, 1)), "two lists": join(str(4, ""), str(16, "")), "refs apart": join(bytesField(1, make([]byte, 32)), vint(99, 1)),
	} {
		b := bytes.Repeat(one, 200_000/len(one))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		c.Append(nil, c.Decode(b))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(40*len(b)) || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %d bytes of memory and %v for %d bytes", name, n, time.Since(start), len(b))
		}
	}
}

func FuzzCodec(f *testing.F) {
	c, r := everythingCodec(), rand.New(rand.NewPCG(5, 6))
	for range 10 {
		f.Add(c.Append(nil, random(r)))
	}
	f.Add(join(str(19, "a"), vint(10, 0), str(19, "b"), vint(10, 3), vint(99, 7), []byte{0xff}))
	f.Fuzz(func(t *testing.T, b []byte) { roundTrip(t, c, b) })
}

func roundTrip(t *testing.T, c *Codec[everything], b []byte) {
	m := c.Decode(b)
	out := c.Append(nil, m)
	if !m.NonCanonical && !bytes.Equal(out, b) {
		t.Errorf("%x is encoded as %x", b, out)
	}
	if m.Cut > 0 && m.NonCanonical {
		return // the end of the last field that was cut may now make sense
	}
	if again := c.Decode(out); !reflect.DeepEqual(values(m), values(again)) {
		t.Errorf("%x:\n got %v\nthen %v", b, values(m), values(again))
	}
}

// TestCodecNoise decodes bytes that nobody encoded.
func TestCodecNoise(t *testing.T) {
	c := everythingCodec()
	if err := quick.Check(func(b []byte) bool { roundTrip(t, c, b); return !t.Failed() }, &quick.Config{MaxCount: 5000, Rand: nil}); err != nil {
		t.Error(err)
	}
}

// TestReuse: a struct that is used again holds nothing of an earlier message.
func TestReuse(t *testing.T) {
	c, r := everythingCodec(), rand.New(rand.NewPCG(9, 10))
	again := c.Reuse()
	for range 500 {
		b := append(c.Append(nil, random(r)), []string{"", "\xff", string(vint(99, 7)), string(str(19, "again"))}[r.IntN(4)]...)
		fresh, used := c.Decode(b), again.Decode(b)
		if !reflect.DeepEqual(values(fresh), values(used)) || !bytes.Equal(fresh.Raw, used.Raw) || fresh.Cut != used.Cut || fresh.Fields != used.Fields || fresh.NonCanonical != used.NonCanonical {
			t.Fatalf("%x:\n got %+v\nwant %+v", b, used, fresh)
		}
		if !bytes.Equal(c.Append(nil, used), c.Append(nil, fresh)) {
			t.Fatalf("%x is encoded as %x", b, c.Append(nil, used))
		}
	}
}

// TestMerge: a nested message in pieces is all of them, except for what is cut short.
func TestMerge(t *testing.T) {
	c, cut := everythingCodec(), []byte{0x0a, 9}
	for _, pieces := range [][3][]byte{{vint(1, 1), cut, vint(2, 2)}, {cut, vint(1, 1), vint(2, 2)}, {vint(1, 1), vint(2, 2), cut}} {
		m := c.Decode(join(bytesField(5, pieces[0]), bytesField(5, pieces[1]), bytesField(5, pieces[2])))
		if want := join(vint(1, 1), vint(2, 2)); !bytes.Equal(m.Tokens, want) || !bytes.Equal(m.Raw, bytesField(5, cut)) || !m.NonCanonical {
			t.Errorf("%x: %x and %x, want %x", pieces, m.Tokens, m.Raw, want)
		}
	}
}

func TestWords(t *testing.T) {
	f := Messages().Message("TodoItem").Named("status")
	for n, word := range []string{"", "pending", "in_progress", "completed", "cancelled", ""} {
		if got := f.Word(uint64(n)); got != word {
			t.Errorf("%d is %q, want %q", n, got, word)
		}
		if word != "" && f.Number(word) != uint64(n) {
			t.Errorf("%s is %d, want %d", word, f.Number(word), n)
		}
	}
	if f.Word(1<<40) != "" || f.Number("no") != 0 {
		t.Error("an unknown value has a word, or an unknown word a value")
	}
}

func TestID(t *testing.T) {
	const text = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	id, ok := ParseID(strings.ToUpper(text))
	if !ok || id.String() != text || id.Short() != text[:16] {
		t.Error(id, ok)
	}
	for _, bad := range []string{"", text[1:], "x" + text[1:]} {
		if _, ok := ParseID(bad); ok {
			t.Errorf("%q is an id", bad)
		}
	}
	if seed := maphash.MakeSeed(); id.Hash(seed) == (ID{}).Hash(seed) {
		t.Error("two ids have one hash")
	}
}
