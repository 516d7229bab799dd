package cursortools

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"rehome/formats/internal/object"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// content returns what was read as text.
func (s *speller) content(raw []byte) []byte {
	if raw == nil && s.picture(nil) == nil {
		return session.AppendString(nil, s.shown())
	}
	return raw
}

// picture returns what was read if it is an image, in base64.
func (s *speller) picture(raw []byte) []byte {
	if raw == nil {
		raw = get(s.values, "base64")
	}
	if raw == nil && s.values == nil {
		for _, p := range s.result.Content {
			if m, ok := p.(*session.Media); ok && len(m.Data) > 0 {
				return quoted64(m.Data)
			}
		}
	}
	return raw
}

func quoted64(data []byte) []byte {
	return append(base64.StdEncoding.AppendEncode([]byte{'"'}, data), '"')
}

// inlined returns the record of what was read with the content that it keeps in a blob:
// the target does not have that blob.
func (s *speller) inlined(value session.Raw) session.Raw {
	success := rawjson.Last(value, "success")
	if !bytes.Contains(success, []byte(`BlobId"`)) {
		return value
	}
	o := object.New([]byte(`{"success":`))
	for name, v := range rawjson.Members(success) {
		data, text := s.blob(v), string(name) == "contentBlobId"
		switch {
		case !text && string(name) != "dataBlobId":
			writeName(&o, string(name))
			o.B = append(o.B, v...)
		case data == nil:
		case text:
			o.Text("content", string(data))
		default:
			o.Raw("data", quoted64(data))
		}
	}
	return append(o.Done(), '}')
}

// blob returns the content of the blob of an id, nil if the result does not have it.
func (s *speller) blob(id []byte) []byte {
	var found []byte
	try := func(data []byte) {
		sum := sha256.Sum256(data)
		if string(quoted64(sum[:])) == string(id) {
			found = data
		}
	}
	for _, p := range s.result.Content {
		switch p := p.(type) {
		case *session.Text:
			try([]byte(p.Text))
		case *session.Media:
			try(p.Data)
		}
	}
	for _, e := range s.result.Extras {
		if e.Name != "contentBlobId" && e.Name != "dataBlobId" {
			continue
		}
		if text := rawjson.Last(e.Raw, "text"); text != nil {
			try(rawjson.AppendText(nil, text))
		} else if data, err := base64.StdEncoding.DecodeString(rawjson.TextAt(e.Raw, "base64")); err == nil {
			try(data)
		}
	}
	return found
}
