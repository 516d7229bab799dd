package read

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

var contextTable = sync.OnceValue(func() *members.Table {
	claimed := []string{"selectedImages"}
	for _, a := range contextAttachments {
		claimed = append(claimed, a.member)
	}
	return members.NewTable(claimed, "ideEditorsState", "mentions", "usesCodebase", "useWeb", "useLinterErrors", "useDiffReview",
		"autoContext", "useRememberThis", "useGitContext", "useWebContext", "useContextPicking", "editTrailContexts", "diffHistory")
})

// attached returns the attachments of a prompt as parts, which precede its text.
func (d *assembler) attached(f *members.Object) (parts []session.Part) {
	for i, a := range bubbleAttachments {
		parts = d.list(parts, f, bubAttached+i, a.kind)
	}
	if text := f.Text(bubGitStatus); text != "" {
		parts = append(parts, &session.Injected{Tag: "git_status", Text: text})
		f.Drop(bubGitStatus)
	}
	raw := f.Full(bubContext)
	if raw == nil {
		return parts
	}
	if raw[0] != '{' {
		f.Keep(bubContext)
		return parts
	}
	f.Drop(bubContext)
	in := &d.inner
	in.SplitBy(raw, "context.", contextTable())
	for i, a := range contextAttachments {
		parts = d.list(parts, in, 1+i, a.kind)
	}
	if images := in.Full(0); images != nil && images[0] == '[' {
		parts = d.pictures(parts, images)
	}
	d.loose = append(d.loose, in.Settle(&d.tally)...)
	return parts
}

// list makes a part of each element of a list. A value of another shape is kept.
func (d *assembler) list(parts []session.Part, f *members.Object, i int, kind string) []session.Part {
	raw := f.Full(i)
	if raw == nil {
		return parts
	}
	if raw[0] != '[' {
		f.Keep(i)
		return parts
	}
	f.Drop(i)
	for value := range rawjson.Elements(raw) {
		if !members.Empty(value) {
			parts = append(parts, &session.Injected{Tag: kind, Data: members.Bare(kind, value)})
		}
	}
	return parts
}

// pictures makes a part of each image. Its bytes are base64, an object of bytes by
// index, or an array; or they are in a file of the workspace.
func (d *assembler) pictures(parts []session.Part, list []byte) []session.Part {
	for value := range rawjson.Elements(list) {
		if members.Empty(value) {
			continue
		}
		m := &session.Media{}
		for name, v := range rawjson.Members(value) {
			switch text := rawjson.Text(v); string(name) {
			case "data":
				if m.Data = pictureBytes(v); m.Data == nil && !members.Empty(v) {
					m.Extras = append(m.Extras, session.Extra{Name: "data", Raw: bytes.Clone(v)})
				}
				var buffer members.Object
				if m.Data != nil && v[0] == '{' && buffer.Split(v, "data.", []string{"type", "data"}) && buffer.Has(1) {
					m.Extras = append(m.Extras, buffer.Extras...)
				}
			case "path":
				m.URI = text
			case "mimeType", "mime":
				m.Mime = text
			default:
				if !members.Empty(v) {
					m.Extras = append(m.Extras, session.Extra{Name: string(name), Raw: members.Bare(string(name), v)})
				}
			}
		}
		if text := rawjson.Text(value); text != "" { // just the bytes
			m.Data = pictureBytes(value)
		}
		if m.Data == nil && m.URI != "" {
			d.chat.picture(m)
		}
		if m.Data == nil && m.URI == "" && len(m.Extras) == 0 {
			parts = append(parts, &session.Opaque{Kind: "image", Raw: bytes.Clone(value)})
			continue
		}
		if m.Mime == "" {
			m.Mime = mimeOf(m.Data)
		}
		parts = append(parts, m)
	}
	return parts
}

// pictureBytes decodes bytes in any of these forms; nil if v has none of them.
func pictureBytes(v []byte) []byte {
	switch {
	case len(v) == 0:
	case v[0] == '"':
		text := rawjson.Text(v)
		if _, data, ok := strings.Cut(text, ";base64,"); ok && strings.HasPrefix(text, "data:") {
			text = data
		}
		for _, enc := range [...]*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(text); err == nil && len(b) > 0 {
				return b
			}
		}
	case v[0] == '[':
		var out []byte
		for n := range rawjson.Elements(v) {
			c, err := strconv.ParseUint(string(n), 10, 8)
			if err != nil {
				return nil
			}
			out = append(out, byte(c))
		}
		return out
	case v[0] == '{':
		return indexedBytes(v)
	}
	return nil
}

// indexedBytes reads {"0":137,"1":80,…}, as JavaScript spells a byte array,
// and {"type":"Buffer","data":[…]}.
func indexedBytes(v []byte) []byte {
	if data := rawjson.Last(v, "data"); data != nil {
		return pictureBytes(data)
	}
	var out []byte
	for name, n := range rawjson.Members(v) {
		at, err := strconv.Atoi(string(name))
		c, err2 := strconv.ParseUint(string(n), 10, 8)
		if err != nil || err2 != nil || at != len(out) {
			return nil
		}
		out = append(out, byte(c))
	}
	return out
}

// mimeOf recognizes the kinds of images that can be pasted.
func mimeOf(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("GIF8")):
		return "image/gif"
	case len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	case bytes.HasPrefix(b, []byte("<svg")):
		return "image/svg+xml"
	}
	return ""
}
