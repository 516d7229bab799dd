package cursoride

import (
	"rehome/formats/internal/rawjson"
)

// translate makes a bubble of the first generation one of today's. There a
// type is a word, which some call a role, what the user typed can be in
// delegate.a, initText or content, and the answer's text in rawText.
func (c *chat) translate(b *bubble) {
	if c.body != inTab || b.body == nil {
		return
	}
	f := &b.f
	f.kindBy(f.raw(bubType))
	text := f.raw(bubText)
	var rest = f.extras[:0]
	for _, e := range f.extras {
		switch {
		case e.Name == "rawText" && !b.user, e.Name == "content" && f.raw(bubText) == nil && e.Raw[0] == '"':
			text = e.Raw
		case e.Name == "role" && f.raw(bubType) == nil && f.kindBy(e.Raw):
		case e.Name == "delegate" && rawjson.Text(rawjson.Last(e.Raw, "a")) != "" && b.user:
			text = rawjson.Last(e.Raw, "a")
		case e.Name == "initText" && f.raw(bubRichText) == nil:
			f.found[bubRichText] = e.Raw
		case e.Name == "image" && f.raw(bubImages) == nil && e.Raw[0] == '{':
			f.found[bubImages] = append(append([]byte{'['}, e.Raw...), ']')
		case e.Name == "timestamp" && f.raw(bubCreated) == nil:
			f.found[bubCreated] = e.Raw
		case e.Name == "id":
		case e.Name == "selections" || e.Name == "fileSelections":
			at := bubAttached // attachedCodeChunks
			if e.Name == "fileSelections" {
				at++
			}
			if f.raw(at) == nil {
				f.found[at] = e.Raw
				continue
			}
			rest = append(rest, e)
		default:
			rest = append(rest, e)
		}
	}
	if rawText := rawjson.Text(text); rawText != "" {
		if old := f.raw(bubText); old != nil && rawjson.Text(old) != rawText && rawjson.Text(old) != "" {
			f.keepAs("text", old)
			rest = append(rest, f.extras[len(f.extras)-1])
		}
		f.found[bubText] = text
	}
	f.extras = rest
}

// kindBy sets a bubble's type from the word that stands for it; false if it is
// another.
func (f *fields) kindBy(word []byte) bool {
	switch rawjson.Text(word) {
	case "user":
		f.found[bubType] = []byte("1")
	case "ai", "assistant":
		f.found[bubType] = []byte("2")
	default:
		return false
	}
	return true
}
