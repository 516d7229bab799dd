package read

import (
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/internal/rawjson"
)

// translate converts a bubble of the first generation to the current form. Its type is
// a word, in some versions named role; the prompt can be in initText, content or, if there is
// no text, delegate.a, and the text of the answer in rawText.
func (c *Chat) translate(b *bubble) {
	if c.Body != lists.InTab || b.body == nil {
		return
	}
	f := &b.f
	setKind(f, f.Raw(bubType))
	text := f.Raw(bubText)
	var rest = f.Extras[:0]
	for _, e := range f.Extras {
		switch {
		case e.Name == "rawText" && !b.user, e.Name == "content" && f.Raw(bubText) == nil && e.Raw[0] == '"':
			text = e.Raw
		case e.Name == "role" && f.Raw(bubType) == nil && setKind(f, e.Raw):
		case e.Name == "delegate" && rawjson.TextAt(e.Raw, "a") != "" && b.user && rawjson.Text(f.Raw(bubText)) == "":
			text = rawjson.Last(e.Raw, "a")
		case e.Name == "initText" && f.Raw(bubRichText) == nil:
			f.Set(bubRichText, e.Raw)
		case e.Name == "image" && f.Raw(bubImages) == nil && e.Raw[0] == '{':
			f.Set(bubImages, append(append([]byte{'['}, e.Raw...), ']'))
		case e.Name == "timestamp" && f.Raw(bubCreated) == nil:
			f.Set(bubCreated, e.Raw)
		case e.Name == "id":
		case e.Name == "selections" || e.Name == "fileSelections":
			at := bubAttached // attachedCodeChunks
			if e.Name == "fileSelections" {
				at++
			}
			if f.Raw(at) == nil {
				f.Set(at, e.Raw)
				continue
			}
			rest = append(rest, e)
		default:
			rest = append(rest, e)
		}
	}
	if rawText := rawjson.Text(text); rawText != "" {
		if old := f.Raw(bubText); old != nil && rawjson.Text(old) != rawText && rawjson.Text(old) != "" {
			f.KeepAs("text", old)
			rest = append(rest, f.Extras[len(f.Extras)-1])
		}
		f.Set(bubText, text)
	}
	f.Extras = rest
}

// setKind sets the type of a bubble from the word for it; false if the word is unknown.
func setKind(f *members.Object, word []byte) bool {
	switch rawjson.Text(word) {
	case "user":
		f.Set(bubType, []byte("1"))
	case "ai", "assistant":
		f.Set(bubType, []byte("2"))
	default:
		return false
	}
	return true
}
