package read

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// results converts a line of tool results, each to a message of its own.
func (w *walker) results(i int, m *session.Message, parts []session.Part, value []byte, n int) bool {
	first, nth := true, 1
	var rest []session.Part
	for _, p := range parts {
		r, ok := p.(*session.ToolResult)
		if !ok {
			rest = append(rest, p)
			continue
		}
		if r.Value = nil; n == 1 && value != nil {
			r.Value = value
			w.offloaded(r)
			if len(r.Content) == 0 { // the model is sent an empty result, whatever the record says
				r.Content = []session.Part{&session.Text{}}
			}
			if slices.ContainsFunc(recorded(value), r.Contradicts) {
				w.note(loss.ResultDiffers, i)
			}
		}
		one := &session.Message{ID: m.ID, Role: session.Tool, At: m.At, Archived: m.Archived, Origin: m.Origin, Parts: []session.Part{r}}
		if first {
			one.Extras = m.Extras
			if n > 1 && value != nil {
				one.Extras = append(one.Extras, session.Extra{Name: "toolUseResult", Raw: value})
			}
		} else {
			nth++
			one.ID = fmt.Sprintf("%s-%d", m.ID, nth)
		}
		first = false
		if !w.put(one) {
			return false
		}
	}
	if len(rest) == 0 {
		return true
	}
	return w.put(&session.Message{ID: m.ID + "-text", Role: session.User, Simulated: true, At: m.At, Archived: m.Archived, Origin: m.Origin, Parts: rest})
}

// recorded returns what the client's record of a result says that the tool answered, as far as
// it is known to be text. Of errors, it can keep the cause, of which the model is not sent all.
func recorded(value []byte) (out []string) {
	switch value[0] {
	case '"':
		if s := rawjson.Text(value); !slices.ContainsFunc(causes[:], func(cause string) bool { return strings.Contains(s, cause) }) {
			out = append(out, s)
		}
		return out
	case '[':
		return texts(value)
	}
	change := false
	for name, v := range rawjson.Members(value) {
		switch string(name) {
		case "structuredPatch":
			change = true
		case "stdout", "stderr", "result":
			out = append(out, rawjson.Text(v))
		case "content":
			out = append(append(out, rawjson.Text(v)), texts(v)...)
		case "file":
			out = append(out, rawjson.TextAt(v, "content"))
		case "filenames":
			var list []string
			for f := range rawjson.Elements(v) {
				list = append(list, rawjson.Text(f))
			}
			out = append(out, strings.Join(list, "\n"))
		}
	}
	if change {
		return nil // of a file: the model wrote it
	}
	return out
}

// causes are in records of calls that did not run, which the client words anew for the model.
var causes = [...]string{"rejected tool use", "InputValidationError", "nterrupted by user", "no result of this call was kept"}

// texts returns the texts of blocks.
func texts(blocks []byte) (out []string) {
	for b := range rawjson.Elements(blocks) {
		out = append(out, rawjson.TextAt(b, "text"))
	}
	return out
}

// maxOffloaded is the maximum size of a backup or a file of tool output.
const maxOffloaded = 16 << 20

// offloaded adds output that was too long for its line, from its file.
func (w *walker) offloaded(r *session.ToolResult) {
	file := rawjson.TextAt(r.Value, "persistedOutputPath")
	if file == "" {
		return
	}
	name := path.Join(outline.Side(w.File), "tool-results", path.Base(strings.ReplaceAll(file, `\`, "/")))
	if w.files[name] {
		return // an earlier result has it
	}
	w.files[name] = true
	if b, err := smallFile(w.Root, name); err == nil {
		r.Extras = append(r.Extras, session.Extra{Name: "tool-results/" + path.Base(name), Raw: session.AppendString(nil, string(b))})
	}
}

// wrapped turns texts within a tag into Injected parts.
func wrapped(parts []session.Part) []session.Part {
	for i, p := range parts {
		t, ok := p.(*session.Text)
		if !ok || len(t.Text) < 3 || t.Text[0] != '<' {
			continue
		}
		tag, rest, ok := strings.Cut(t.Text[1:], ">\n")
		inner, closed := strings.CutSuffix(rest, "\n</"+tag+">")
		if ok && closed && tag != "" && outline.Sanitize(tag) == tag && !strings.Contains(inner, "</"+tag+">") {
			parts[i] = &session.Injected{Tag: tag, Text: inner}
		}
	}
	return parts
}

// commanded turns a command into Injected parts if these can be written again
// exactly. It returns other parts unchanged.
func commanded(parts []session.Part) []session.Part {
	if len(parts) != 1 {
		return parts
	}
	t, ok := parts[0].(*session.Text)
	if !ok || len(t.Extras) > 0 {
		return parts
	}
	var out []session.Part
	for rest := t.Text; ; {
		tag, inner, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		if !ok || rest[0] != '<' || !outline.IsCommandTag(tag) {
			return parts
		}
		if inner, rest, ok = strings.Cut(inner, "</"+tag+">"); !ok {
			return parts
		}
		out = append(out, &session.Injected{Tag: tag, Text: inner})
		if rest == "" {
			return out
		}
		if rest, ok = strings.CutPrefix(rest, outline.CommandSeparator(out[0].(*session.Injected).Tag)); !ok || rest == "" {
			return parts
		}
	}
}
