package write

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/object"
	"rehome/formats/internal/picture"
	"rehome/formats/loss"
	"rehome/formats/session"
)

const (
	maxImage = 3750 << 10 // 5 MB as base64
	maxFile  = 20 << 20
)

// media returns an image or a file as a block. One that the API would reject, and
// with it every later request, is replaced by a description.
func (e *encoder) media(t *session.Media) (block []byte, words string) {
	if block, words = e.picture(t); words == "" {
		return block, ""
	}
	switch {
	case len(t.Data) == 0 || len(t.Data) > maxFile:
	case bytes.HasPrefix(t.Data, []byte("%PDF-")):
		p := object.New(nil)
		p.Text("type", "document")
		p.Name("source")
		p.B = append(p.B, `{"type":"base64","media_type":"application/pdf","data":"`...)
		p.B = append(base64.StdEncoding.AppendEncode(p.B, t.Data), `"}`...)
		return p.Done(), ""
	case !strings.HasPrefix(t.Mime, "image/") && utf8.Valid(t.Data) && bytes.IndexByte(t.Data, 0) < 0:
		e.note(loss.FileInlined)
		name := t.Name
		if name == "" {
			name = "attachment"
		}
		return e.block("<file name=\"" + strings.ReplaceAll(name, `"`, "'") + "\">\n" + string(t.Data) + "\n</file>")
	}
	code := loss.MediaNamed
	if len(t.Data) == 0 {
		code = loss.MediaMissing
	}
	e.note(code)
	return e.block(words)
}

// picture returns an image as a block, or else its description.
func (e *encoder) picture(t *session.Media) (block []byte, words string) {
	e.extras(t.Extras)
	mime := picture.Kind(t.Data)
	if mime != "" && len(t.Data) <= maxImage {
		p := object.New(nil)
		p.Text("type", "image")
		p.Name("source")
		p.B = append(append(append(p.B, `{"type":"base64","media_type":"`...), mime...), `","data":"`...)
		p.B = append(base64.StdEncoding.AppendEncode(p.B, t.Data), `"}`...)
		block = p.Done()
		e.sendImage(len(block))
		return block, ""
	}
	what := t.Mime
	if what == "" {
		what = "file"
	}
	words = fmt.Sprintf("[%s, %d bytes", what, len(t.Data))
	for _, more := range []string{t.Name, t.URI} {
		if more != "" {
			words += ", " + more
		}
	}
	words += "]"
	block, _ = e.block(words)
	return block, words
}
