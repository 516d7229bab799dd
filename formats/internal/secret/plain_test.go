package secret

import (
	"encoding/hex"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHolds(t *testing.T) {
	key := `"blobEncryptionKey":"` + planted + `"`
	said := `{"text":"the \"blobEncryptionKey\":\"x\" of this file"}` + "\n"
	large := strings.Repeat(`{"text":"words and words"}`+"\n", wholeFile/20)
	long := `{"text":"` + strings.Repeat("words ", wholeFile/5)
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"empty":               {"", false},
		"a file of its own":   {`{"schemaVersion":1,"title":"t"}`, false},
		"a member":            {"{\n  \"a\": [{" + key + "}]\n}\n", true},
		"other case":          {`{"BLOBencryptionkey":1}`, true},
		"escaped":             {`{"blob\u0045ncryptionKey":1}`, true},
		"over two lines":      {"{\"blobEncryptionKey\"\n:\"" + planted + "\"}", true},
		"nothing in it":       {`{"blobEncryptionKey":null,"speculativeSummarizationEncryptionKey":""}`, false},
		"lines":               {said + said + "{" + key + "}\n", true},
		"torn":                {"{" + key[:len(key)-4], true},
		"hexadecimal":         {hex.EncodeToString([]byte("{" + key + "}")), true},
		"program":             {"const blobEncryptionKey = f()\n", false},
		"said":                {said, false},
		"said in lines":       {said + said, false},
		"large":               {large, false},
		"large, said":         {large + said, false},
		"large, at the end":   {large + "{" + key + "}", true},
		"large, over lines":   {large + "{\n\"blobEncryptionKey\"\n:\n1}", true},
		"long line":           {long + `"}`, false},
		"long line, member":   {long + `",` + key + "}", true},
		"long line, in front": {"{" + key + "," + long[1:], true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Holds(strings.NewReader(c.text))
			if got != c.want || err != nil {
				t.Errorf("%v, %v, want %v", got, err, c.want)
			}
		})
	}
	if _, err := Holds(iotest.ErrReader(iotest.ErrTimeout)); err == nil {
		t.Error("a file that cannot be read passes")
	}
}

// However a name straddles the pieces in which a long line is read, it is seen.
func TestHoldsAcrossPieces(t *testing.T) {
	for at := wholeFile - 40; at < wholeFile+10; at += 7 {
		text := strings.Repeat("x", at) + `"blobEncryptionKey":"` + planted + `"` + strings.Repeat("y", 100)
		if held, err := Holds(strings.NewReader(text)); !held || err != nil {
			t.Errorf("at %d: %v, %v", at, held, err)
		}
	}
}
