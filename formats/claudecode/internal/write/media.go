package write

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif"  // decoders, to find images that are not complete
	_ "image/jpeg" // the same
	_ "image/png"  // the same
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
)

const (
	maxImage = 3750 << 10 // 5 MB as base64
	maxSide  = 8000       // pixels
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
	mime := imageKind(t.Data)
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

// maxPixels is the maximum size of an image that is decoded. Of larger ones, only the
// header and the end are checked.
const maxPixels = 16 << 20

// imageKind returns the type of an image by its content; "" if the API does not
// accept it, or it is not complete.
func imageKind(data []byte) string {
	if len(data) > 16 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		if size := int64(binary.LittleEndian.Uint32(data[4:])); size < 12 || size+8 > int64(len(data)) {
			return ""
		}
		return "image/webp"
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width > maxSide || c.Height > maxSide || c.Width < 1 || c.Height < 1 {
		return ""
	}
	end := map[string]string{"png": "IEND\xaeB`\x82", "jpeg": "\xff\xd9", "gif": "\x00;"}[kind]
	if !bytes.Contains(data[len(data)/2:], []byte(end)) {
		return ""
	}
	if c.Width*c.Height <= maxPixels {
		if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
			return ""
		}
	}
	return "image/" + kind
}
