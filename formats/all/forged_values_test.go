package all_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// twist edits a text: who said it, a number, a word, or which blob it names.
func twist(r *rand.Rand, s string, ids []string) string {
	for range 8 {
		out := s
		switch r.IntN(4) {
		case 0:
			out = strings.Replace(s, "assistant", "user", 1)
		case 1:
			if i := strings.IndexAny(s, "123456789"); i >= 0 {
				out = s[:i] + "0" + s[i+1:]
			}
		case 2:
			out = strings.Replace(s, ids[r.IntN(len(ids))], ids[r.IntN(len(ids))], 1)
		default:
			if len(s) > 3 {
				i := r.IntN(len(s))
				out = s[:i] + string(rune('a'+r.IntN(26))) + s[i+1:]
			}
		}
		if out != s {
			return out
		}
	}
	return s + "forged"
}

// members is a JSON object whose members keep their order; with true, one is left out.
type members [][]any

func (o members) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, m := range o {
		if len(m) == 3 && m[2].(bool) {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%q:", m[0])
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m[1]); err != nil {
			return nil, err
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func cellOf(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case int64:
		return members{{"int", fmt.Sprint(v)}}
	case []byte:
		return members{{"blob64", base64.StdEncoding.EncodeToString(v)}}
	}
	return members{{"text", strings.ToValidUTF8(fmt.Sprint(v), "")}}
}

// swapWords puts two words in place of each other.
func swapWords(s, a, b string) string {
	return regexp.MustCompile(`\b(`+a+`|`+b+`)\b`).ReplaceAllStringFunc(s, func(w string) string {
		if w == a {
			return b
		}
		return a
	})
}
