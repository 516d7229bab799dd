package agentstate

import (
	"bytes"
	"context"
	"unicode/utf8"

	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// Kinds of SelectedContext's fields that are bytes of a medium.
const (
	selectedImages    = 1
	selectedExtra     = 3
	selectedVideos    = 23
	selectedDocuments = 25
)

// attachedTags name what a user can attach, by SelectedContext's field.
var attachedTags = map[int]string{
	2: "invocation", 16: "extra", 4: "file", 5: "selection", 6: "terminal", 7: "terminal_selection", 8: "folder",
	9: "link", 10: "rule", 18: "git_diff", 11: "branch_diff", 12: "command", 13: "documentation", 14: "ui_element",
	15: "console_log", 17: "git_commit", 19: "past_chat", 20: "pull_request_diff", 21: "pull_request", 22: "subagent",
	24: "browser", 26: "skill", 27: "recent_agents", 34: "git_action",
}

// attachments spells a SelectedContext: what a user attached to a prompt.
func (s *State) attachments(ctx context.Context, b []byte) (media, attached []session.Part, err error) {
	m := wire.Messages().Message("SelectedContext")
	r := wire.Read(b)
	var rest []byte
	for r.Next() {
		f := m.Field(r.Num)
		tag := attachedTags[r.Num]
		switch {
		case f == nil || r.Type != wire.Bytes:
			rest = append(rest, r.Raw...)
			continue
		case r.Num == selectedImages || r.Num == selectedVideos || r.Num == selectedDocuments:
			part, err := s.medium(ctx, f.Message, r.Body)
			if err != nil {
				return nil, nil, err
			}
			media = append(media, part)
		case r.Num == selectedExtra:
			in := &session.Injected{Tag: "extra"}
			in.Text = s.text(r.Body, "extraContext", &in.Extras)
			attached = append(attached, in)
		case tag != "" && f.Message != nil:
			in, err := s.attachment(ctx, tag, f.Message, r.Body)
			if err != nil {
				return nil, nil, err
			}
			attached = append(attached, in)
		default:
			rest = append(rest, r.Raw...)
			continue
		}
		s.ledger.took(1)
	}
	if rest = append(rest, r.Rest()...); len(rest) > 0 {
		attached = append(attached, &session.Injected{Tag: "other", Extras: s.leftover("SelectedContext", rest)})
	}
	return media, attached, nil
}

// attachment spells a thing attached as its own record; a blob that holds its
// content, as its text.
func (s *State) attachment(ctx context.Context, tag string, m *wire.Message, b []byte) (*session.Injected, error) {
	in := &session.Injected{Tag: tag}
	s.refs = s.refs[:0]
	in.Data = s.spellAs(nil, m, b)
	for _, r := range append([]ref(nil), s.refs...) {
		content, err := s.read(ctx, r.id, "attachment of a prompt")
		if err != nil {
			return nil, err
		}
		if content == nil {
			continue
		}
		if utf8.Valid(content) && in.Text == "" {
			s.ledger.mark(r.id, claimed)
			in.Text = string(content)
			continue
		}
		s.ledger.mark(r.id, opaque)
		in.Extras = append(in.Extras, session.Extra{Name: r.name, Raw: carry(r.id, content)})
	}
	return in, nil
}

// medium spells a SelectedImage, -Video or -Document.
func (s *State) medium(ctx context.Context, m *wire.Message, b []byte) (*session.Media, error) {
	out := &session.Media{}
	var blob ID
	rest, _ := s.fields(b, func(r *wire.Reader) bool {
		f := m.Field(r.Num)
		if f == nil || r.Type != wire.Bytes {
			return false
		}
		switch f.Name {
		case "blobId":
			id, ok := asID(r.Body)
			if ok {
				blob = id
			}
			return ok
		case "data":
			out.Data = append([]byte{}, r.Body...)
		case "blobIdWithData":
			id, data, ok := blobWithData(r.Body)
			if ok {
				blob, out.Data = id, append([]byte{}, data...)
			}
			return ok
		case "mimeType":
			out.Mime = s.text(r.Body, "mimeType", &out.Extras)
		case "path":
			out.URI = s.text(r.Body, "path", &out.Extras)
		case "filename":
			out.Name = s.text(r.Body, "filename", &out.Extras)
		default:
			return false
		}
		return true
	})
	out.Extras = append(out.Extras, s.leftover(m.Name, rest)...)
	if blob == (ID{}) {
		return out, nil
	}
	data, err := s.read(ctx, blob, "image or file of a prompt")
	if err != nil {
		return nil, err
	}
	if data == nil {
		out.Extras = append(out.Extras, session.Extra{Name: "blobId", Raw: quoted(blob.String())})
		return out, nil
	}
	s.ledger.mark(blob, claimed)
	if out.Data == nil {
		out.Data = append([]byte{}, data...)
	} else if !bytes.Equal(out.Data, data) {
		out.Extras = append(out.Extras, session.Extra{Name: "blob", Raw: carry(blob, data)})
	}
	return out, nil
}

func blobWithData(b []byte) (id ID, data []byte, ok bool) {
	r := wire.Read(b)
	for r.Next() {
		switch {
		case r.Is(1, wire.Bytes):
			if id, ok = asID(r.Body); !ok {
				return id, nil, false
			}
		case r.Is(2, wire.Bytes):
			data = r.Body
		default:
			return id, nil, false
		}
	}
	return id, data, ok && len(r.Rest()) == 0
}

// appendBytes ends an object with bytes: as text where they are text.
func appendBytes(dst, b []byte) []byte {
	if utf8.Valid(b) {
		dst = rawjson.Quote(append(dst, `"text":`...), b)
	} else {
		dst = wire.AppendBase64(append(dst, `"base64":`...), b)
	}
	return append(dst, '}')
}
