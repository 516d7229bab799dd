package secret

import "testing"

func TestStrip(t *testing.T) {
	for in, want := range map[string]string{
		`{"blobEncryptionKey":"s"}`:                                                             `{}`,
		`{"a":1,"blobEncryptionKey":"s","b":2}`:                                                 `{"a":1,"b":2}`,
		`{"blobEncryptionKey":"s","b":2}`:                                                       `{"b":2}`,
		`{"blobEncryptionKey":"s","speculativeSummarizationEncryptionKey":"s","b":2}`:           `{"b":2}`,
		`{"x":{"blobEncryptionKey":{"blobEncryptionKey":"s"}},"blobEncryptionKey":"s","y":[1]}`: `{"x":{},"y":[1]}`,
		`{"blob\u0045ncryptionKey":"s","b":2}`:                                                  `{"b":2}`,
		`{"blobEncryptionKey":null,"speculativeSummarizationEncryptionKey":""}`:                 `{"blobEncryptionKey":null,"speculativeSummarizationEncryptionKey":""}`,
		`{"text":"blobEncryptionKey"}`:                                                          `{"text":"blobEncryptionKey"}`,
		`[{"blobEncryptionKey":"s"},{"b":"s","blobEncryptionKey":"s"}]`:                         `[{},{"b":"s"}]`,
		"": "", "words": "words",
	} {
		out, inserts, torn := Strip([]byte(in))
		if torn || string(out) != want || (inserts == nil) != (in == want) {
			t.Errorf("%s becomes %s, %v, torn %v, want %s", in, out, inserts, torn, want)
		}
		if back, ok := Unstrip(out, inserts); !ok || string(back) != in {
			t.Errorf("%s comes back as %s", in, back)
		}
	}
	for _, in := range []string{`{"blobEncryptionKey":"s`, `words "blobEncryptionKey":"s"`, `{"blobEncryptionKey":"s"} {`} {
		if _, _, torn := Strip([]byte(in)); !torn {
			t.Errorf("%s is not called torn", in)
		}
	}
}

func TestStripHex(t *testing.T) {
	plainText, key := `7b2261223a317d`, `7b2261223a312c22626c6f62456e6372797074696f6e4b6579223a2273227d` // {"a":1} and {"a":1,"blobEncryptionKey":"s"}
	if out, cut, torn := StripHex([]byte(key)); string(out) != plainText || !cut || torn {
		t.Errorf("%s becomes %s, %v, %v", key, out, cut, torn)
	}
	if out, cut, torn := StripHex([]byte(plainText)); string(out) != plainText || cut || torn {
		t.Errorf("%s becomes %s, %v, %v", plainText, out, cut, torn)
	}
	if _, _, torn := StripHex([]byte(key[:len(key)-1])); !torn {
		t.Error("digits that are torn and name a key are not called torn")
	}
}
