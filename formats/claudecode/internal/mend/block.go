package mend

import (
	"slices"
	"strconv"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/object"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// edited changes what the API rejects in a block, or in a block of a result.
func edited(did func(rule.Finding, string, string), f rule.Finding, b []byte) ([]byte, bool) {
	rest := strings.TrimPrefix(f.Pointer, "/message/content/")
	_, rest, _ = strings.Cut(rest, "/")
	inner, ok := strings.CutPrefix(rest, "content/")
	if !ok {
		return one(did, f, b)
	}
	first, _, _ := strings.Cut(inner, "/")
	n, err := strconv.Atoi(first)
	list := slices.Collect(rawjson.Elements(rawjson.Last(b, "content")))
	if err != nil || n < 0 || n >= len(list) {
		return b, false
	}
	if list[n], ok = one(did, f, list[n]); !ok {
		return b, false
	}
	return linerepair.Set(b, "content", linerepair.Array(list)), true
}

// one changes a block.
func one(did func(rule.Finding, string, string), f rule.Finding, b []byte) ([]byte, bool) {
	switch f.Rule {
	case "RH449":
		name := outline.Sanitize(rawjson.TextAt(b, "name"))
		if name == "" {
			name = "unknown"
		}
		did(f, "replaced the tool's name by "+strconv.Quote(rule.Truncate(name, outline.MaxTool)), "the name as it was")
		return linerepair.SetText(b, "name", rule.Truncate(name, outline.MaxTool)), true
	case "RH450":
		o := object.New(nil)
		if was := rawjson.Last(b, "input"); len(was) > 0 && string(was) != "null" {
			o.Raw("input", was)
		}
		did(f, "made the input an object", "")
		return linerepair.Set(b, "input", o.Done()), true
	case "RH451":
		did(f, "made the block a text of its JSON", "")
		return textBlock(string(b)), true
	case "RH452":
		t := shape.Blocks[rawjson.TextAt(b, "type")]
		var names []string
		for name := range rawjson.Members(b) {
			if t != nil && !t.Knows(string(name)) {
				names = append(names, string(name))
			}
		}
		for _, name := range names {
			b = linerepair.Remove(b, name)
			did(f, "removed the field "+strconv.Quote(rule.Clip(name)), "that field")
		}
		return b, len(names) > 0
	case "RH465":
		did(f, "made the content a text of its JSON", "")
		return linerepair.SetText(b, "content", string(rawjson.Last(b, "content"))), true
	case "RH467":
		did(f, "replaced the image or document by a text that says so", "what is left of its data")
		return textBlock("(An image or document was here. Its data is corrupt.)"), true
	}
	return b, false
}

func textBlock(text string) []byte {
	o := object.New(nil)
	o.Text("type", "text")
	o.Text("text", text)
	return o.Done()
}
