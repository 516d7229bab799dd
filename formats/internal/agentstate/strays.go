package agentstate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rehome/formats/internal/wire"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// strays looks for what is said in blobs that no state refers to: a client that was stopped
// leaves messages behind. A blob is superseded only if the states contain each text in it.
// Other messages become a branch, or losses, and other blobs are reported.
func (s *State) strays(ctx context.Context, v *survey, ends []end) error {
	left := slices.DeleteFunc(v.list.left, func(id ID) bool { return s.grown[id] || s.Has(id) })
	if len(left) == 0 {
		return nil
	}
	if err := s.survey(ctx, v, ends); err != nil {
		return err
	}
	var said, other []ID
	for _, id := range left {
		if v.seen[id] {
			continue
		}
		b, err := v.blobs.Blob(ctx, id)
		if err != nil {
			return err
		}
		texts := v.textsOf(b)
		switch {
		case !slices.ContainsFunc(texts, v.lacks):
		case isPrompt(b):
			said = append(said, id)
			v.add(texts)
		default:
			other = append(other, id)
		}
	}
	if err := s.addStrays(ctx, said); err != nil {
		return err
	}
	for _, id := range other { // some repeat messages that were left behind
		b, err := v.blobs.Blob(ctx, id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(v.textsOf(b), v.lacks) {
			s.ledger.leave(id)
			s.at = id
			s.note(loss.StrayBlob)
		}
	}
	return nil
}

// survey adds the text of all that the state and the ends of older ones refer to.
func (s *State) survey(ctx context.Context, v *survey, ends []end) error {
	for _, id := range v.list.order {
		if s.Has(id) {
			if err := v.reach(ctx, id); err != nil {
				return err
			}
		}
	}
	for _, e := range ends {
		if err := v.reach(ctx, e.root); err != nil {
			return err
		}
	}
	return nil
}

// addStrays makes a branch of messages that no state refers to, after the conversation.
func (s *State) addStrays(ctx context.Context, said []ID) error {
	if len(said) == 0 {
		return nil
	}
	if !s.o.History {
		for _, id := range said {
			s.ledger.leave(id)
			s.at = id
			s.note(loss.StraySkipped)
		}
		return nil
	}
	root := (&Root{Prompts: said}).encode()
	blobs, id := WithRoot(s.ledger.blobs, root)
	s.ledger.blobs = blobs
	n := len(s.branches)
	if err := s.addBranch(ctx, id, 0); err != nil {
		return err
	}
	s.ledger.count[claimed]-- // the root is not in the store
	for i := range s.branches[n:] {
		b := &s.branches[n+i]
		if b.first = len(s.Turns()); len(s.plan) > 0 {
			b.grew = s.nameOf(&s.plan[len(s.plan)-1])
		}
	}
	for _, id := range said {
		s.at = id
		s.note(loss.StrayMessage)
	}
	return nil
}

// survey is the text of the blobs that states refer to.
type survey struct {
	blobs Blobs
	list  *blobList
	seen  map[ID]bool
	texts map[textSum]bool
}

type textSum [16]byte

// sumText returns the digest of a text, without the tags around a prompt.
func sumText(text string) (out textSum) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "<user_query>"); ok {
		if inner, ok = strings.CutSuffix(inner, "</user_query>"); ok {
			text = strings.TrimSpace(inner)
		}
	}
	sum := sha256.Sum256([]byte(text))
	return textSum(sum[:len(out)])
}

func (v *survey) lacks(text string) bool { return !v.texts[sumText(text)] }

func (v *survey) add(texts []string) {
	for _, t := range texts {
		v.texts[sumText(t)] = true
	}
}

// reach adds the text of a blob, and of all that it refers to.
func (v *survey) reach(ctx context.Context, id ID) error {
	for list := []ID{id}; len(list) > 0; {
		id, list = list[len(list)-1], list[:len(list)-1]
		if v.seen[id] || !v.list.has(id) {
			continue
		}
		v.seen[id] = true
		b, err := v.blobs.Blob(ctx, id)
		if err != nil {
			return err
		}
		v.add(v.textsOf(b))
		v.eachRef(b, 0, func(id ID) { list = append(list, id) })
	}
	return nil
}

// eachRef calls f with each id of a blob in a message.
func (v *survey) eachRef(b []byte, depth int, f func(ID)) {
	for r := wire.Read(b); depth < wire.MaxDepth && r.Next(); {
		if id, ok := wire.AsID(r.Body); ok && v.list.has(id) {
			f(id)
		} else if r.Type == wire.Bytes {
			v.eachRef(r.Body, depth+1, f)
		}
	}
}

// textsOf returns the texts in a blob: the strings of JSON and, of a message that no table is
// needed for, all that can be read.
func (v *survey) textsOf(b []byte) (out []string) {
	if v.list.rootShape(b) {
		return v.rootTexts(b)
	}
	refs, tail := links(b)
	if doc := bytes.TrimSpace(b[tail:]); len(doc) > 0 && doc[0] == '{' {
		return promptTexts(doc)
	} else if len(refs) > 0 && len(doc) == 0 {
		return nil
	}
	return v.fields(nil, b, 0)
}

// rootTexts returns the texts in a root, except the folder and the branches of git, which
// differ from state to state and nobody said.
func (v *survey) rootTexts(b []byte) (out []string) {
	for r := wire.Read(v.list.rest(b)); r.Next(); {
		switch codecs().root.Message.Field(r.Num).Name {
		case "previousWorkspaceUris", "activeBranchName", "trackedGitRepoBranches":
		default:
			out = v.fields(out, r.Raw, 0)
		}
	}
	return out
}

// promptTexts returns the strings in a prompt message, except the words for roles and kinds.
func promptTexts(doc []byte) (out []string) {
	for name, value := range rawjson.Members(doc) {
		switch {
		case string(name) == "role":
		case string(name) == "content" && value[0] == '[':
			for part := range rawjson.Elements(value) {
				for name, value := range rawjson.Members(part) {
					if string(name) != "type" {
						out = slices.AppendSeq(out, session.Strings(value))
					}
				}
			}
		default:
			out = slices.AppendSeq(out, session.Strings(value))
		}
	}
	return out
}

func (v *survey) fields(out []string, b []byte, depth int) []string {
	r := wire.Read(b)
	for depth < wire.MaxDepth && r.Next() {
		id, ok := wire.AsID(r.Body)
		switch {
		case r.Type != wire.Bytes || ok && v.list.has(id):
		case isPrompt(r.Body): // that is not sent yet
			out = append(out, promptTexts(r.Body)...)
		case readable(r.Body):
			out = append(out, string(r.Body))
		case len(wire.Tail(r.Body)) == 0:
			out = v.fields(out, r.Body, depth+1)
		case utf8.Valid(r.Body):
			out = append(out, string(r.Body))
		}
	}
	if rest := r.Rest(); readable(rest) {
		out = append(out, string(rest))
	}
	return out
}

// readable reports whether bytes are text that somebody can have written, and not empty.
func readable(b []byte) bool {
	return utf8.Valid(b) && len(bytes.TrimSpace(b)) > 0 && bytes.IndexFunc(b, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r)
	}) < 0
}

// isPrompt reports whether a blob is a prompt message, which states who speaks.
func isPrompt(b []byte) bool {
	_, tail := links(b)
	doc := bytes.TrimSpace(b[tail:])
	return len(doc) > 0 && doc[0] == '{' && roleOf(rawjson.Last(doc, "role")) != unknownRole
}
