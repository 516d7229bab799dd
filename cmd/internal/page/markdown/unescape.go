package markdown

import (
	"bytes"
	"html"

	"github.com/yuin/goldmark/util"
)

// maxEntity is the length of the longest character reference.
const maxEntity = 40

// unescape returns text without the escapes of Markdown: \* and &amp;.
func unescape(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 && bytes.IndexByte(b, '&') < 0 {
		return string(b)
	}
	var out []byte
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\' && i+1 < len(b) && util.IsPunct(b[i+1]):
			i++
		case b[i] == '&':
			if end := bytes.IndexByte(b[i:min(len(b), i+maxEntity)], ';'); end > 0 {
				out = append(out, html.UnescapeString(string(b[i:i+end+1]))...)
				i += end
				continue
			}
		}
		out = append(out, b[i])
	}
	return string(out)
}
