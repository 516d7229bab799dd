package agentstate

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

func (s *State) mediaPart(part []byte, d *doc, of session.Source) *session.Media {
	t := &session.Media{Source: of}
	for name, v := range rawjson.Members(part) {
		switch n := string(name); {
		case n == "type":
		case (n == "mimeType" || n == "mediaType") && rawjson.IsText(v) && t.Mime == "":
			t.Mime = rawjson.Text(v)
		case n == "filename" && rawjson.IsText(v):
			t.Name = rawjson.Text(v)
		case (n == "image" || n == "data") && t.Data == nil && t.URI == "" && hold(t, v):
		case n == "providerOptions":
			s.options(v, d, &t.Extras)
			continue
		default:
			s.extra(&t.Extras, n, v)
			continue
		}
		s.ledger.took(1)
	}
	return t
}

// hold takes the bytes of an image or a file in any of the known forms: the client's own
// form of binary data, a URL, base64.
func hold(m *session.Media, v []byte) bool {
	switch {
	case v[0] == '{':
		text := rawjson.Last(v, "hex")
		if string(rawjson.Last(v, "__type")) != `"Uint8Array"` || text == nil {
			return false
		}
		for name := range rawjson.Members(v) {
			if n := string(name); n != "hex" && n != "__type" {
				return false
			}
		}
		data, err := hex.DecodeString(rawjson.Text(text))
		m.Data = data
		return err == nil
	case v[0] != '"':
		return false
	}
	text := rawjson.Text(v)
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "file://") {
		m.URI = text
		return true
	}
	if rest, ok := strings.CutPrefix(text, "data:"); ok {
		mime, body, ok := strings.Cut(rest, ";base64,")
		data, err := base64.StdEncoding.Strict().DecodeString(body)
		if !ok || err != nil {
			m.URI = text
			return true
		}
		if m.Mime == "" {
			m.Mime = mime
		}
		m.Data = data
		return m.Mime == mime
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return false
	}
	m.Data = data
	return true
}
