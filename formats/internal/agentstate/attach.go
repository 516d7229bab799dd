package agentstate

import (
	"bytes"
	"context"
	"unicode/utf8"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// attachedTags maps the fields of SelectedContext to tags of what a user can attach.
var attachedTags = map[string]string{
	"invocationContext": "invocation", "extraContextEntries": "extra", "files": "file", "codeSelections": "selection", "terminals": "terminal",
	"terminalSelections": "terminal_selection", "folders": "folder", "externalLinks": "link", "cursorRules": "rule", "gitDiff": "git_diff",
	"gitDiffFromBranchToMain": "branch_diff", "cursorCommands": "command", "documentations": "documentation", "uiElements": "ui_element",
	"consoleLogs": "console_log", "gitCommits": "git_commit", "pastChats": "past_chat", "gitPrDiffSelections": "pull_request_diff",
	"selectedPullRequests": "pull_request", "selectedSubagents": "subagent", "selectedBrowsers": "browser", "selectedSkills": "skill",
	"recentAgentsContext": "recent_agents", "selectedAgenticGitAction": "git_action",
}

// attachments decodes a SelectedContext: what a user attached to a prompt.
func (s *State) attachments(ctx context.Context, b []byte) (media, attached []session.Part, err error) {
	m := wire.Messages().Message("SelectedContext")
	r := wire.Read(b)
	var rest []byte
	for r.Next() {
		f := m.Field(r.Num)
		if f == nil || r.Type != wire.Bytes {
			rest = append(rest, r.Raw...)
			continue
		}
		tag := attachedTags[f.Name]
		switch {
		case f.Name == "selectedImages" || f.Name == "selectedVideos" || f.Name == "selectedDocuments":
			part, err := s.medium(ctx, f.Message, r.Body)
			if err != nil {
				return nil, nil, err
			}
			media = append(media, part)
		case f.Name == "extraContext":
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
		attached = append(attached, &session.Injected{Tag: "other", Extras: s.leftover(m, rest)})
	}
	return media, attached, nil
}

// attachment returns an attached item as JSON; the blob that holds its content, as text.
func (s *State) attachment(ctx context.Context, tag string, m *wire.Message, b []byte) (*session.Injected, error) {
	in := &session.Injected{Tag: tag}
	s.refs = s.refs[:0]
	in.Data = s.spell(m, b)
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

// medium decodes a SelectedImage, SelectedVideo or SelectedDocument.
func (s *State) medium(ctx context.Context, m *wire.Message, b []byte) (*session.Media, error) {
	out := &session.Media{}
	var blob ID
	var rest []byte
	r := wire.Read(b)
	for r.Next() {
		f := m.Field(r.Num)
		if f == nil || r.Type != wire.Bytes || !s.mediumField(out, &blob, f, r.Body) {
			rest = append(rest, r.Raw...)
			continue
		}
		s.ledger.took(1)
	}
	out.Extras = append(out.Extras, s.leftover(m, append(rest, r.Rest()...))...)
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

// mediumField takes one field of it. It returns false if the field stays unknown.
func (s *State) mediumField(out *session.Media, blob *ID, f *wire.Field, b []byte) (ok bool) {
	switch f.Name {
	case "blobId":
		if id, isID := wire.AsID(b); isID {
			*blob, ok = id, true
		}
		return ok
	case "data":
		out.Data = append([]byte{}, b...)
	case "blobIdWithData":
		both := decodeBoth(f.Message, b)
		if ok = both.Blob != (ID{}) && len(both.Raw) == 0; ok {
			*blob, out.Data = both.Blob, append([]byte{}, both.Data...)
		}
		return ok
	case "mimeType":
		out.Mime = s.text(b, "mimeType", &out.Extras)
	case "path":
		out.URI = s.text(b, "path", &out.Extras)
	case "filename":
		out.Name = s.text(b, "filename", &out.Extras)
	default:
		return false
	}
	return true
}

// decodeBoth decodes the blobIdWithData of an image, a video or a document.
func decodeBoth(m *wire.Message, b []byte) *blobWithData {
	for _, c := range []*wire.Codec[blobWithData]{codecs().video, codecs().document} {
		if m == c.Message {
			return c.Decode(b)
		}
	}
	return codecs().image.Decode(b)
}

// appendBytes ends an object with bytes: as text if they are valid UTF-8, else in base64.
func appendBytes(dst, b []byte) []byte {
	if utf8.Valid(b) {
		dst = rawjson.Quote(append(dst, `"text":`...), b)
	} else {
		dst = wire.AppendBase64(append(dst, `"base64":`...), b)
	}
	return append(dst, '}')
}
