package wire

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// randomMessage writes a message as the client does: fields in the order of their numbers,
// of each oneof one.
func randomMessage(r *rand.Rand, m *Message, depth int) (b []byte) {
	pick := map[string]int{}
	for _, f := range m.byNum {
		if f != nil && f.OneOf != "" && r.IntN(3) == 0 {
			pick[f.OneOf] = f.Num
		}
	}
	for _, f := range m.byNum {
		switch {
		case f == nil || r.IntN(3) == 0 || f.OneOf != "" && pick[f.OneOf] != f.Num || depth > 4 && f.Kind == Nested:
		case f.Key != 0:
			key := str(1, "k")
			if f.Key != String {
				key = vint(1, 7)
			}
			b = append(b, bytesField(f.Num, key, randomValue(r, f, 2, depth))...)
		case f.Repeated && f.Kind.wire() != Bytes:
			var packed []byte
			for range 1 + r.IntN(3) {
				v := Read(randomValue(r, f, 1, depth))
				v.Next()
				packed = append(packed, v.Raw[1:]...)
			}
			b = append(b, bytesField(f.Num, packed)...)
		default:
			for range 1 + map[bool]int{true: r.IntN(3)}[f.Repeated] {
				b = append(b, randomValue(r, f, f.Num, depth)...)
			}
		}
	}
	for range max(0, r.IntN(5)-3) {
		b = append(b, str(2000, "later")...)
	}
	return b
}

func randomValue(r *rand.Rand, f *Field, num, depth int) []byte {
	switch f.Kind {
	case Int32, Enum:
		return vint(num, uint64(int64(int32(r.Uint32()>>r.IntN(32)))))
	case Uint32, Sint32:
		return vint(num, uint64(r.Uint32()))
	case Int64, Uint64:
		return vint(num, r.Uint64())
	case Bool:
		return vint(num, r.Uint64N(2))
	case Float:
		return protowire.AppendFixed32(tagged(num, Fixed32), math.Float32bits(r.Float32()*1e9))
	case Double:
		return double(num, r.NormFloat64()*1e30)
	case Nested:
		return bytesField(num, randomMessage(r, f.Message, depth+1))
	case Value:
		return bytesField(num, bytesField(6, bytesField(1, str(3, "x\n")), bytesField(1, double(2, r.Float64())), bytesField(1, vint(1, 0)), bytesField(1, vint(4, 1))))
	case Struct:
		return bytesField(num, bytesField(1, str(1, "a\"b"), bytesField(2, bytesField(5, bytesField(1, str(1, "c"), bytesField(2, vint(4, 0)))))))
	}
	return str(num, strings.Repeat("é\x00", r.IntN(50)))
}

// TestJSONBothWays: every message of the table is spelled as JSON, and encoded as the bytes
// that it was.
func TestJSONBothWays(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for name, m := range Messages().messages {
		for range 10 {
			b := randomMessage(r, m, 0)
			w := Walker{}
			text := w.Append(nil, m, b)
			got, err := m.AppendJSON(nil, text)
			if err != nil || !bytes.Equal(got, b) {
				t.Fatalf("%s: %v\n%s\n got %x\nwant %x", name, err, text, got, b)
			}
		}
	}
}

// TestJSONRaw: what is kept raw is written as it was.
func TestJSONRaw(t *testing.T) {
	for _, c := range []struct {
		message string
		b       []byte
	}{
		{"AwaitError", join(str(1, "a"), vint(99, 7))},
		{"AwaitError", vint(1, 7)},
		{"AwaitError", join(tagged(7, Group), vint(1, 1), tagged(7, groupEnd))},
		{"AwaitError", str(1, "a\xffb")},
		{"AwaitError", join(str(1, "a"), str(1, "b"))},
		{"AwaitError", append(str(1, "a"), 0x12, 0x7f)},
		{"AwaitError", join(str(1, "a"), double(98, 2), vint(99, 7), vint(99, 8))},
		{"AwaitError", join(str(1, "a"), vint(98, 7), double(99, 2))},
		{"AwaitError", join(str(1, "a"), str(1, "bb"), str(1, "c"))},
		{"AwaitError", bytes.Repeat(vint(99, 1), 100)},
		{"AwaitResult", bytesField(3, []byte{0x0a, 0x09})},
	} {
		w := Walker{}
		text := w.Append(nil, Messages().Message(c.message), c.b)
		got, err := Messages().Message(c.message).AppendJSON(nil, text)
		if err != nil || !bytes.Equal(got, c.b) {
			t.Errorf("%s: %v\n got %x\nwant %x", text, err, got, c.b)
		}
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"AwaitError", ``}, {"AwaitError", `[]`}, {"AwaitError", `{"error":1}`}, {"AwaitError", `{"other":"x"}`}, {"AwaitError", `{"#":{"base64":"?"}}`},
		{"AwaitError", `{"#rest":{"base64":"?"}}`}, {"AwaitError", `{"#9":{"field":0,"wire":0}}`}, {"AwaitError", `{"#9":{"field":9,"wire":0,"value":"x"}}`},
		{"AwaitError", `{"#9":[{"field":9,"wire":2,"base64":"?"}]}`}, {"AwaitError", `{"#9":{"field":9,"wire":5,"base64":"AA=="}}`}, {"AwaitError", `{"#9":{"field":9,"wire":4,"base64":""}}`},
		{"ShellFailure", `{"exitCode":"x"}`}, {"ShellArgs", `{"isBackground":1}`}, {"TodoItem", `{"status":"NO"}`}, {"McpImageContent", `{"data":"?"}`},
		{"StepTiming", `{"durationMs":"-1"}`}, {"PiBashToolArgs", `{"timeout":"x"}`}, {"McpArgs", `{"args":[]}`}, {"McpArgs", `{"args":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`},
		{"LsDirectoryTreeNode", `{"childrenFiles":{}}`}, {"ReadTodosArgs", `{"statusFilter":["NO"]}`}, {"AwaitResult", `{"error":[]}`},
	} {
		if b, err := Messages().Message(c[0]).AppendJSON(nil, []byte(c[1])); err == nil {
			t.Errorf("%s %.80s is encoded as %x", c[0], c[1], b)
		}
	}
}

// FuzzJSON: what is encoded is spelled the same again.
func FuzzJSON(f *testing.F) {
	f.Add(`{"error":"a","#99":{"field":99,"wire":0,"value":"7"}}`)
	f.Add(`{"complete":{"taskId":"t","exitCode":-2},"#1":{"field":1,"wire":2,"base64":"CgF0"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		m := Messages().Message("AwaitResult")
		b, err := m.AppendJSON(nil, []byte(text))
		if err != nil {
			return
		}
		w := Walker{}
		if again, err := m.AppendJSON(nil, w.Append(nil, m, b)); err != nil || len(b) > 4*len(text) || len(again) > len(b)+16 {
			t.Errorf("%s is encoded as %x and then %x: %v", text, b, again, err)
		}
	})
}

// TestJSONMaps: keys of maps are strings in JSON, whatever they are in the table.
func TestJSONMaps(t *testing.T) {
	table, err := Parse("message A: 1 m map<int32,B>\nmessage B: 1 f float; 2 s sint32")
	if err != nil {
		t.Fatal(err)
	}
	w := Walker{}
	b := bytesField(1, vint(1, 7), bytesField(2, protowire.AppendFixed32(tagged(1, Fixed32), math.Float32bits(0.5)), vint(2, 3)))
	text := w.Append(nil, table.Message("A"), b)
	if got, err := table.Message("A").AppendJSON(nil, text); err != nil || !bytes.Equal(got, b) || string(text) != `{"m":{"7":{"f":0.5,"s":-2}}}` {
		t.Errorf("%s: %v\n got %x\nwant %x", text, err, got, b)
	}
	for _, bad := range []string{`{"m":[]}`, `{"m":{"x":{}}}`, `{"m":{"7":{"f":"x"}}}`} {
		if _, err := table.Message("A").AppendJSON(nil, []byte(bad)); err == nil {
			t.Errorf("%s is encoded", bad)
		}
	}
}
