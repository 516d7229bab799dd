package leaves

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// spelled returns a field with a length.
func spelled(number int, body string) string {
	return string([]byte{byte(number<<3 | 2), byte(len(body))}) + body
}

func leavesOf(t *testing.T, data string, ids ...string) (out []string) {
	t.Helper()
	p := protobuf{
		has:  func(id string) bool { return slices.Contains(ids, id) },
		refs: func(path, id string) { out = append(out, path+" -> "+id[:4]) },
		add:  func(l Leaf) { out = append(out, fmt.Sprintf("%s %q %v", l.Path, l.Value, l.Bytes)) },
	}
	if !p.message("", []byte(data), 0) {
		out = append(out, "none")
	}
	return out
}

// TestProtobuf: strings, numbers, messages, bytes and references are told apart without a table.
func TestProtobuf(t *testing.T) {
	long := strings.Repeat("a", 60)
	id := strings.Repeat("\xab", 32)
	for data, want := range map[string]string{
		spelled(1, "text"):                               `1 "text" false`,
		spelled(1, spelled(1, long)):                     `1.1 "` + long + `" false`, // all of it can be shown
		spelled(1, spelled(2, "in it")) + "\x18\x96\x01": `1.2 "in it" false,3 "150" false`,
		spelled(3, "\xff\xfe\x00"):                       `3 "\xff\xfe\x00" true`,
		spelled(2, id):                                   "2 -> abab",
		"\x08\x00":                                       "",
		"\x0d\x01\x00\x00\x00":                           `1 "1" false`,
		"\x08":                                           "none",
		"\x0b":                                           "none",
		spelled(1, `{"a":"b"}`):                          `1 "{\"a\":\"b\"}" false`,
	} {
		if got := strings.Join(leavesOf(t, data, strings.Repeat("ab", 32)), ","); got != want {
			t.Errorf("%q: want %s, got %s", data, want, got)
		}
	}
}

// TestProtobufHostile: no bytes make it panic or go deep, and cut bytes are no message.
func TestProtobufHostile(t *testing.T) {
	deep := ""
	for range 60 {
		deep = spelled(2, deep)
	}
	leavesOf(t, deep)
	leavesOf(t, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		leavesOf(t, string(b))
	}
	whole := []byte(spelled(2, spelled(1, "a text")) + "\x18\x01")
	for n := 1; n < len(whole)-2; n++ {
		if _, ok := fields(bytes.Clone(whole[:n])); ok {
			t.Errorf("%d bytes of %d are a message", n, len(whole))
		}
	}
}

// TestDerivedKeys: numbers and words have no other form than the declared one.
func TestDerivedKeys(t *testing.T) {
	for _, c := range [][3]string{
		{"flag", "1", "ttrue"}, {"flag", "2", ""}, {"is:1=agent,2=ask", "2", "task"}, {"is:1=agent", "3", ""}, {"hex", "6g", ""}, {"name", "a", "na"},
		{"fileuri", "file:///a%20b", "t/a b"}, {"time", "soon", ""},
	} {
		if got := strings.Join(derivedKeys(c[0], Leaf{Value: c[1]}), ","); got != c[2] {
			t.Errorf("%s of %q: want %q, got %q", c[0], c[1], c[2], got)
		}
	}
}
