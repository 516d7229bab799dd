package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"rehome/formats/loss"
	"rehome/internal/rawjson"
)

// The test's own writer of protobuf.

func tagged(num int, typ Type) []byte {
	return binary.AppendUvarint(nil, uint64(num)<<3|uint64(typ))
}

func vint(num int, v uint64) []byte { return binary.AppendUvarint(tagged(num, Varint), v) }

func bytesField(num int, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(binary.AppendUvarint(tagged(num, Bytes), uint64(len(body))), body...)
}

func str(num int, s string) []byte { return bytesField(num, []byte(s)) }

func double(num int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(tagged(num, Fixed64), math.Float64bits(v))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// spelled is a message as JSON, with the notes that were made.
func spelled(t *testing.T, message string, b []byte) (out string, notes []string) {
	t.Helper()
	w := Walker{Note: func(code loss.Code) { notes = append(notes, string(code)) }}
	m := Messages().Message(message)
	if m == nil {
		t.Fatalf("no message %s", message)
	}
	out = string(w.Append(nil, m, b))
	if !rawjson.Inline([]byte(out)) {
		t.Errorf("this is no JSON: %s", out)
	}
	return out, notes
}

func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		name, message string
		b             []byte
		want          string
	}{
		{"order of the table, not of the wire", "ShellFailure", join(str(5, "out"), vint(3, 2), str(1, "ls")), `{"command":"ls","exitCode":2,"stdout":"out"}`},
		{"a negative int32", "ShellFailure", vint(3, math.MaxUint64), `{"exitCode":-1}`},
		{"zigzag", "AwaitTaskComplete", vint(7, 3), `{"exitCode":-2}`},
		{"64 bits are strings", "StepTiming", join(vint(1, 5), vint(2, math.MaxUint64)), `{"durationMs":"5","timestampMs":"18446744073709551615"}`},
		{"a negative int64", "TodoItem", vint(4, math.MaxUint64), `{"createdAt":"-1"}`},
		{"an enum by name", "TodoItem", vint(3, 2), `{"status":"TODO_STATUS_IN_PROGRESS"}`},
		{"an enum nobody knows", "TodoItem", vint(3, 77), `{"status":77}`},
		{"packed", "ReadTodosArgs", bytesField(1, []byte{1, 3}), `{"statusFilter":["TODO_STATUS_PENDING","TODO_STATUS_COMPLETED"]}`},
		{"unpacked, and both", "ReadTodosArgs", join(vint(1, 1), bytesField(1, []byte{2, 3})), `{"statusFilter":["TODO_STATUS_PENDING","TODO_STATUS_IN_PROGRESS","TODO_STATUS_COMPLETED"]}`},
		{"a bool that is stated", "ShellArgs", vint(11, 0), `{"isBackground":false}`},
		{"bytes", "McpImageContent", bytesField(1, []byte{0xff, 0}), `{"data":"/wA="}`},
		{"a double", "PiBashToolArgs", double(2, 1.5), `{"timeout":1.5}`},
		{"no number", "PiBashToolArgs", double(2, math.NaN()), `{"timeout":"NaN"}`},
		{"less than nothing", "PiBashToolArgs", double(2, math.Inf(-1)), `{"timeout":"-Infinity"}`},
		{"a map", "LsDirectoryTreeNode", join(bytesField(5, str(1, ".go"), vint(2, 3)), bytesField(5, str(1, ".c"))), `{"fullSubtreeExtensionCounts":{".go":3,".c":0}}`},
		{"a value of each kind", "McpArgs", join(
			bytesField(2, str(1, "a"), bytesField(2, str(3, "x\n"))),
			bytesField(2, str(1, "b"), bytesField(2, double(2, 2))),
			bytesField(2, str(1, "c"), bytesField(2, vint(4, 1))),
			bytesField(2, str(1, "d"), bytesField(2, vint(1, 0))),
			bytesField(2, str(1, "e"), bytesField(2, bytesField(6, bytesField(1, str(3, "i"))))),
			bytesField(2, str(1, "f"), bytesField(2, bytesField(5, bytesField(1, str(1, "k"), bytesField(2, vint(4, 0)))))),
		), `{"args":{"a":"x\n","b":2,"c":true,"d":null,"e":["i"],"f":{"k":false}}}`},
		{"a oneof: the last counts", "AwaitResult", join(bytesField(1, str(1, "t")), bytesField(3, str(1, "no"))),
			`{"error":{"error":"no"},"#1":{"field":1,"wire":2,"base64":"CgF0"}}`},
		{"a message stated twice is both", "AwaitResult", join(bytesField(1, str(1, "t")), bytesField(1, vint(2, 4))), `{"complete":{"taskId":"t","runtimeMs":"4"}}`},
		{"a text stated twice", "AwaitError", join(str(1, "a"), str(1, "b")), `{"error":"b","#1":{"field":1,"wire":2,"base64":"YQ=="}}`},
		{"a field nobody knows", "AwaitError", join(str(1, "a"), vint(99, 7)), `{"error":"a","#99":{"field":99,"wire":0,"value":"7"}}`},
		{"two of them", "AwaitError", join(vint(99, 7), str(98, "x"), vint(99, 8)),
			`{"#98":{"field":98,"wire":2,"base64":"eA=="},"#99":[{"field":99,"wire":0,"value":"7"},{"field":99,"wire":0,"value":"8"}]}`},
		{"another wire type", "AwaitError", vint(1, 7), `{"#1":{"field":1,"wire":0,"value":"7"}}`},
		{"a group", "AwaitError", join(tagged(7, Group), vint(1, 1), tagged(7, groupEnd), str(1, "a")), `{"error":"a","#7":{"field":7,"wire":3,"base64":"CAE="}}`},
		{"no UTF-8", "AwaitError", str(1, "a\xffb"), "{\"error\":\"a\uFFFDb\",\"#1\":{\"field\":1,\"wire\":2,\"base64\":\"Yf9i\"}}"},
		{"cut short", "AwaitError", append(str(1, "a"), 0x12, 0x7f), `{"error":"a","#rest":{"base64":"En8="}}`},
		{"cut short within", "AwaitResult", bytesField(3, []byte{0x0a, 0x09}), `{"#3":{"field":3,"wire":2,"base64":"Cgk="}}`},
		{"one of a list is damaged", "GetAgentStatusSuccess", join(bytesField(1, str(1, "a")), bytesField(1, []byte{0x0a, 9}), bytesField(1, str(1, "b"))),
			`{"workers":[{"bcId":"a"},{"bcId":"b"}],"#1":{"field":1,"wire":2,"base64":"Cgk="}}`},
		{"empty", "AwaitError", nil, `{}`},
	} {
		if got, _ := spelled(t, c.message, c.b); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestCounts: what is seen is understood or kept.
func TestCounts(t *testing.T) {
	w := Walker{}
	w.Append(nil, Messages().Message("AwaitResult"), join(bytesField(3, str(1, "no"), vint(50, 1)), vint(60, 1)))
	if w.Seen != 4 || w.Strays != 2 {
		t.Errorf("%d fields seen, %d strays; want 4 and 2", w.Seen, w.Strays)
	}
}

// TestDeep nests a message in itself: beyond MaxDepth it is kept raw, and a
// million levels cost neither the stack nor time.
func TestDeep(t *testing.T) {
	var body []byte
	for range MaxDepth + 5 {
		body = bytesField(2, body)
	}
	out, notes := spelled(t, "LsDirectoryTreeNode", body)
	if !strings.Contains(out, `"#2"`) || len(notes) != 1 {
		t.Errorf("too deep, and neither kept nor said: %v %s", notes, out)
	}
	deep := []byte{}
	for range 1_000_000 {
		deep = append(deep, tagged(3, Group)...)
	}
	if out, _ := spelled(t, "AwaitError", deep); !strings.Contains(out, "#rest") {
		t.Errorf("a million groups: %.80s", out)
	}
	deep = bytesField(2, str(1, "k"), bytesField(2, nested(200)))
	if out, _ := spelled(t, "McpArgs", deep); !strings.Contains(out, `"#2"`) {
		t.Errorf("a deep value: %.80s", out)
	}
}

// nested is a Value of lists in one another.
func nested(n int) []byte {
	v := str(3, "x")
	for range n {
		v = bytesField(6, bytesField(1, v))
	}
	return v
}

// TestBounded: many fields, strays and false lengths cost what they weigh.
func TestBounded(t *testing.T) {
	many := bytes.Repeat(vint(99, 1), 100_000)
	out, _ := spelled(t, "AwaitError", many)
	if len(out) > 3*len(many) {
		t.Errorf("%d bytes become %d", len(many), len(out))
	}
	bad := bytes.Repeat(str(1, "\xff"), 50_000)
	if out, _ = spelled(t, "ReadLintsToolArgs", bad); len(out) > 12*len(bad) {
		t.Errorf("%d bytes become %d", len(bad), len(out))
	}
	for _, size := range []uint64{1 << 31, 1 << 40, math.MaxUint64} {
		b := binary.AppendUvarint(tagged(1, Bytes), size)
		if out, notes := spelled(t, "AwaitError", b); !strings.Contains(out, "#rest") || len(notes) != 1 {
			t.Errorf("a length of %d: %s %v", size, out, notes)
		}
	}
}

// TestTable reads the table the way a stranger would.
func TestTable(t *testing.T) {
	tools := 0
	for _, f := range Messages().Message("ToolCall").Fields {
		if !strings.HasSuffix(f.Name, "ToolCall") {
			continue
		}
		tools++
		if f.Message == nil || f.Message.Field(1) == nil {
			t.Errorf("%s is no call", f.Name)
		}
	}
	if tools < 69 {
		t.Errorf("%d kinds of tools; the client has 69", tools)
	}
	for _, bad := range []string{"message A: 1 a B", "message A: 1 a string; 1 b string", "message A: x a string", "enum E X_: 1", "nonsense", "message A: 1 a @E",
		"message A:\nmessage A:", "message A: 1 a map<x,string>", "message A: 1 a string |", "message A: 1 a string one"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzWalker(f *testing.F) {
	f.Add(uint8(0), join(bytesField(1, bytesField(1, str(1, "ls"), vint(3, 30))), str(57, "id")))
	f.Add(uint8(1), []byte{0x0a, 0x20, 0x12})
	f.Add(uint8(2), bytesField(2, str(1, "k"), bytesField(2, nested(3))))
	f.Add(uint8(3), bytes.Repeat(vint(99, 1), 70))
	names := []string{"ToolCall", "ConversationStateStructure", "McpArgs", "SelectedContext", "LsDirectoryTreeNode"}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		w := Walker{Ref: func(*Field, []byte) {}}
		out := w.Append(nil, Messages().Message(names[int(which)%len(names)]), b)
		if !json.Valid(out) || !rawjson.Inline(out) {
			t.Errorf("%x: this is no JSON: %s", b, out)
		}
		if len(out) > 64*len(b)+64 {
			t.Errorf("%d bytes become %d", len(b), len(out))
		}
		if w.Strays > w.Seen {
			t.Errorf("%d strays of %d fields", w.Strays, w.Seen)
		}
	})
}
