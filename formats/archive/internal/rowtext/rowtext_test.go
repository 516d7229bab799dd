package rowtext

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// spellings pairs each cell with the one way it is spelled.
var spellings = []struct {
	cell store.Cell
	want string
}{
	{store.NullCell(), `null`},
	{store.IntCell(0), `0`},
	{store.IntCell(math.MinInt64), `-9223372036854775808`},
	{store.IntCell(9007199254740993), `9007199254740993`},
	{store.RealCell(1), `1.0`},
	{store.RealCell(1.5), `1.5`},
	{store.RealCell(math.Copysign(0, -1)), `-0.0`},
	{store.RealCell(1e300), `1e+300`},
	{store.RealCell(math.Inf(1)), `{"real":"inf"}`},
	{store.RealCell(math.Inf(-1)), `{"real":"-inf"}`},
	{store.TextCell([]byte("")), `""`},
	{store.TextCell([]byte("a\x00b\"\\é\u2028")), `"a\u0000b\"\\é\u2028"`},
	{store.TextCell([]byte(`{"a":1,"a":1.0}`)), `{"text":{"a":1,"a":1.0}}`},
	{store.TextCell([]byte(`[]`)), `{"text":[]}`},
	{store.TextCell([]byte(` {}`)), `" {}"`},
	{store.TextCell([]byte("{\n}")), `"{\n}"`},
	{store.TextCell([]byte(`{"text":1}`)), `{"text":{"text":1}}`},
	{store.TextCell([]byte(`7`)), `"7"`},
	{store.TextCell([]byte(`7b7d`)), `{"hex":{}}`},
	{store.TextCell([]byte(`7B7D`)), `"7B7D"`},
	{store.TextCell([]byte(`7b22`)), `"7b22"`},
	{store.TextCell([]byte("\xff")), `{"text64":"/w=="}`},
	{store.BlobCell([]byte{}), `{"blob64":""}`},
	{store.BlobCell([]byte{0, 1}), `{"blob64":"AAE="}`},
	{store.BlobCell([]byte(`{"a":"b"}`)), `{"blob":{"a":"b"}}`},
	{store.BlobCell([]byte(`7b7d`)), `{"blob64":"N2I3ZA=="}`},
	{store.WithheldCell(), `{"withheld":true}`},
}

func TestSpelling(t *testing.T) {
	for _, c := range spellings {
		if got := string(AppendCell(nil, c.cell)); got != c.want {
			t.Errorf("%v %q is spelled %s, want %s", c.cell.Class, c.cell.Bytes(), got, c.want)
		}
		b := store.NewBatch(0, 1)
		if err := Parse(b, []byte("["+c.want+"]"), false); err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		got := b.Cell(0, 0)
		if got.Class != c.cell.Class || got.Bits() != c.cell.Bits() || !bytes.Equal(got.Bytes(), c.cell.Bytes()) {
			t.Errorf("%s came back as %v %q", c.want, got.Class, got.Bytes())
		}
		b.Release()
	}
}

// TestOneSpelling: what another writer might have spelled otherwise is
// refused, or the text would change on its way through a store.
func TestOneSpelling(t *testing.T) {
	for _, line := range []string{
		`[01]`, `[-0]`, `[1.50]`, `[1e5]`, `[1.0e300]`, `[NaN]`, `[9223372036854775808]`, `[1e999]`,
		`["\u0041"]`, `["\/"]`, `["{}"]`, `["[1]"]`, `["7b7d"]`, `["\ud800"]`, "[\"\xff\"]", "[\"\x01\"]",
		`[{"text": {}}]`, `[{"text":"a"}]`, `[{"text":{}},]`, `[{"text":{},"text":{}}]`, `[{"text":{"a":}}]`,
		`[{"blob64":"e30="}]`, `[{"blob64":"AAF="}]`, "[{\"blob64\":\"AA\rE=\"}]", `[{"blob64":"AAE"}]`, `[{"text64":"YQ=="}]`,
		`[{"hex":"7b7d"}]`, `[{"hex":{}]`, `[{"withheld":false}]`, `[{"other":1}]`, `[{}]`, `[[1]]`, `[true]`,
		`[]`, `[1,2]`, `[1`, `1]`, `[1] `, ` [1]`, ``, `[`, `{"table":"x"}`,
	} {
		b := store.NewBatch(0, 1)
		if err := Parse(b, []byte(line), false); err == nil {
			t.Errorf("%s is taken for %v", line, b.Cell(0, 0))
		}
	}
}

func TestDepth(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	line := AppendCell(nil, store.TextCell([]byte(deep)))
	if line[0] != '"' {
		t.Errorf("JSON 600 deep is spliced into a line: %.20s", line)
	}
	b := store.NewBatch(0, 1)
	if err := Parse(b, []byte(`[{"text":`+deep+`}]`), false); err == nil {
		t.Error("a spliced value 600 deep is read")
	}
}

// RandomCell is any cell, mostly of the kinds that need care.
func randomCell(r *rand.Rand) store.Cell {
	texts := []string{"", "plain", `{"a":[1,2,{"b":null}]}`, "{", "7b7d", "7b", "é\u2028\x00", "\xed\xa0\x80", "\xff\xfe", `"`, "line\nend", "[\"\\ud800\"]", "{\"x\":\"\u0085\"}"}
	switch r.IntN(7) {
	case 0:
		return store.NullCell()
	case 1:
		return store.IntCell(int64(r.Uint64()) >> r.IntN(64))
	case 2:
		return store.RealCell(math.Float64frombits(r.Uint64() &^ (1 << 62)))
	case 3:
		return store.BlobCell([]byte(texts[r.IntN(len(texts))]))
	case 4:
		raw := make([]byte, r.IntN(40))
		for i := range raw {
			raw[i] = byte(r.IntN(256))
		}
		return store.BlobCell(raw)
	}
	return store.TextCell([]byte(texts[r.IntN(len(texts))] + texts[r.IntN(len(texts))]))
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		width := 1 + r.IntN(4)
		rowids := r.IntN(2) == 0
		b := store.NewBatch(0, width)
		id := int64(0)
		if rowids {
			id = int64(r.Uint64())
		}
		b.Row(id)
		for range width {
			b.Add(randomCell(r))
		}
		line := Append(nil, b, 0, rowids)
		if bytes.ContainsAny(line, "\r\n") {
			t.Fatalf("a line end inside the line %q", line)
		}
		back := store.NewBatch(0, width)
		if err := Parse(back, line, rowids); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if digest.Batch(b) != digest.Batch(back) {
			t.Fatalf("%s is another record when read", line)
		}
		b.Release()
		back.Release()
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range spellings {
		f.Add([]byte("[" + c.want + "]"))
		f.Add([]byte("[7," + c.want + "]"))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, rowids := range []bool{false, true} {
			b := store.NewBatch(0, 1)
			if Parse(b, line, rowids) != nil {
				continue
			}
			if again := Append(nil, b, 0, rowids); !bytes.Equal(again, line) {
				t.Fatalf("%q is read, and spelled %q", line, again)
			}
		}
	})
}
