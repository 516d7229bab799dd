package redact

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzValue redacts anything: JSON stays JSON, a message stays a message, nothing is left to
// redact, and what does not change is the same bytes.
func FuzzValue(f *testing.F) {
	word, secret := `Bolt & "Söhne"`, bare()
	r := redactor(f, Policy{Words: []string{word, `C:\nina`, "Acme"}}, "session_secret="+secret, token())
	for _, v := range []string{word, secret, token(), "Acme", `C:\nina`} {
		doc, _ := json.Marshal(map[string]any{v: "say " + v, "list": []string{v, `\` + v, v + `\`, `"` + v}})
		for depth := range 3 {
			f.Add([]byte(quoted(string(doc), depth)))
			f.Add([]byte(`{"a":"` + quoted(string(doc), depth+1) + `"}`))
		}
		f.Add([]byte("a\n" + v + " " + v[:len(v)-1]))
		f.Add([]byte{0x0A, byte(len(v))})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		was := bytes.Clone(b)
		for _, as := range []Form{Unknown, Protobuf, Text} {
			out, changed, err := r.Value(t.Context(), nil, b, as, nil)
			if !bytes.Equal(b, was) {
				t.Fatal("the input was changed")
			}
			if err != nil {
				continue
			}
			if changed == bytes.Equal(b, out) {
				t.Fatalf("changed is %t: %q", changed, out)
			}
			if json.Valid(b) && !json.Valid(out) {
				t.Fatalf("JSON is broken: %q to %q", b, out)
			}
			if as == Protobuf && isMessage(b) && !isMessage(out) {
				t.Fatalf("a message is broken: %q", out)
			}
			if r.Holds(out, as) {
				t.Fatalf("still held, as %d: %q to %q", as, b, out)
			}
		}
	})
}
