package formatstest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// excuses are the losses that explain why an item of a kind is not in the target as it was
// in the source: that it is missing, or that it became one of another kind; and those that
// explain an item that the source does not have. Each report explains one item, but that of a branch
// everything in it.
var excuses = map[string][]loss.Code{
	"system":            {loss.SystemPromptUnsent, loss.MessageMetadata},
	"thinking":          {loss.ThinkingHidden, loss.ThinkingRedacted},
	"thinking to words": {loss.ThinkingAsText},
	"call":              {loss.CallIDChanged},
	"result":            {loss.ResultFromRecord, loss.ErrorTextAdded, loss.ResultMediaNamed, loss.CallIDChanged, loss.ResultOrphan},
	"media":             {loss.MediaNamed, loss.MediaMissing, loss.ResultMediaNamed, loss.AnswerImage},
	"result to words":   {loss.ResultOrphan},
	"media to words":    {loss.FileInlined, loss.MediaNamed, loss.MediaMissing},
	"context":           {loss.AttachmentRecord},
	"boundary":          {loss.SummaryUnused, loss.BranchHidden},
	"summary":           {loss.SummaryUnused, loss.BranchHidden},
	"order":             {loss.ResultMoved, loss.MessageReordered, loss.MessageKept},

	"more user":   {loss.FirstPromptAdded, loss.MediaNamed, loss.MediaMissing, loss.FileInlined},
	"more result": {loss.ResultAdded},
}

// faithful requires that sessions that were read again are those that were written: what
// was said and done is there, in its order, and nothing else, but for losses.
func (d *drafts) faithful(t *testing.T, to *formats.Format, want, got *talk, in func(i int) bool) {
	t.Helper()
	pairs := d.pairs(to, want.heads, got.heads, in)
	for n, h := range got.heads { // what the record of a call tells of a subagent is one, too
		if used := slices.Contains(slices.Collect(maps.Values(pairs)), n); !used && (h.Parent == nil || h.Parent.Call == "") {
			t.Errorf("%s: session %q was not written", to.Name, h.ID)
		}
	}
	for i, n := range pairs {
		if n < 0 {
			t.Errorf("%s: session %q is missing", to.Name, want.heads[i].ID)
			continue
		}
		left := map[loss.Code]int{}
		for _, code := range d.losses[i] {
			left[code]++
		}
		if a, b := &want.heads[i], &got.heads[n]; a.Title != b.Title && !d.retitled(i, a, b.Title) && !(a.Title == "" && isPrompt(want.sessions[i], b.Title)) {
			t.Errorf("%s: session %q with the title %q has the title %q", to.Name, a.ID, a.Title, b.Title)
		}
		for _, what := range differences(items(want.sessions[i]), items(got.sessions[n]), left) {
			t.Errorf("%s: session %q, with losses %v: %s", to.Name, want.heads[i].ID, d.losses[i], what)
		}
	}
}

// retitled reports whether a session may have another title: a loss says so, it had none, or
// its title is in a second file, which is not read when it is alone.
func (d *drafts) retitled(i int, h *session.Head, title string) bool {
	if h.Title == "" && title == "New Agent" || slices.Contains(d.losses[i], loss.TitleFromPrompt) {
		return true
	}
	return h.Parent != nil && (d.paths[i] != "" || slices.Contains(d.losses[i], loss.SessionMetadata))
}

// isPrompt reports whether a title is what a client shows of a prompt, or of a file in it.
func isPrompt(lines []string, title string) bool {
	return named.MatchString(title) || slices.ContainsFunc(items(lines), func(i item) bool {
		return i.kind != "assistant" && strings.Contains(words, " "+i.kind+" ") && strings.Contains(i.text, title)
	})
}

// pairs returns the indexes of the sessions that were read by those of the sessions that
// were written, -1 for one that is missing. A subagent is found by the call that started
// it, else by its place.
func (d *drafts) pairs(to *formats.Format, want, got []session.Head, in func(i int) bool) map[int]int {
	out, used := map[int]int{}, make([]bool, len(got))
	find := func(is func(h *session.Head) bool) int {
		for n := range got {
			if !used[n] && is(&got[n]) {
				used[n] = true
				return n
			}
		}
		return -1
	}
	for i := range want {
		h := &want[i]
		switch {
		case !in(i):
		case d.paths[i] != "" && to.Writer.Join == nil:
			out[i] = find(func(*session.Head) bool { return true })
		case d.paths[i] != "":
			out[i] = find(func(o *session.Head) bool { return o.ID == to.Writer.ID(h) })
		default:
			up := ""
			for k := range i {
				if n, ok := out[k]; ok && n >= 0 && want[k].ID == h.Parent.Session && d.roots[k] == d.roots[i] {
					up = got[n].ID
				}
			}
			below := func(o *session.Head) bool { return o.Parent != nil && o.Parent.Session == up }
			if out[i] = find(func(o *session.Head) bool { return below(o) && o.Parent.Call == h.Parent.Call }); out[i] < 0 {
				out[i] = find(below)
			}
		}
	}
	return out
}

// item is something that was said or done in a session.
type item struct{ kind, text string }

// words are the kinds of items that are text.
const words = " user assistant context summary system "

// differences describes the items that differ and for which no loss is left.
func differences(want, got []item, left map[loss.Code]int) (out []string) {
	explained := func(kind string) bool {
		for _, code := range excuses[kind] {
			if left[code] > 0 {
				if code != loss.BranchHidden {
					left[code]--
				}
				return true
			}
		}
		return false
	}
	renamed := left[loss.CallIDChanged] > 0
	left[loss.CallIDChanged] *= 2 // a call and its result
	missing, extra := minus(want, got), minus(got, want)
	slices.SortStableFunc(missing, func(a, b item) int { // the words for a file can be in one text with others
		return cmp.Compare(strings.Count(a.kind, "media"), strings.Count(b.kind, "media"))
	})
	for _, m := range missing {
		kind := m.kind
		at := slices.IndexFunc(extra, func(e item) bool {
			switch {
			case m.kind == "call":
				return e.kind == m.kind
			case m.kind == "result" && e.kind == m.kind:
				a, b := strings.SplitN(e.text, " ", 3), strings.SplitN(m.text, " ", 3)
				return a[0] == b[0] || renamed && a[1] == b[1] && strings.HasPrefix(a[2], b[2])
			case m.kind == "result":
				return strings.HasPrefix(e.text, "<bash-stdout>") || strings.HasPrefix(e.text, "Result of a tool call:") ||
					e.kind == "context" // the output of a command that the user ran
			case m.kind == "media" && named.MatchString(e.text):
				return true
			}
			return m.text != "" && strings.Contains(words, " "+e.kind+" ") && strings.Contains(e.text, m.text)
		})
		if at >= 0 {
			if strings.Contains(words, " "+extra[at].kind+" ") {
				kind += " to words"
			}
			if extra[at].text = strings.TrimSpace(strings.Replace(extra[at].text, m.text, "", 1)); m.kind == "media" || m.kind == "result" || extra[at].text == "" || !strings.HasSuffix(kind, "to words") {
				extra = slices.Delete(extra, at, at+1)
			}
			if kind == "context to words" || kind == "summary to words" || kind == "user to words" || kind == "tool to words" {
				continue // under another tag, or together
			}
		}
		if !explained(kind) {
			out = append(out, fmt.Sprintf("%s is missing: %.200q", kind, m.text))
		}
	}
	for _, e := range extra {
		if !explained("more " + e.kind) {
			out = append(out, fmt.Sprintf("%s is not in the source: %.200q", e.kind, e.text))
		}
	}
	a, b := common(want, got), common(got, want)
	if !slices.Equal(a, b) && !explained("order") {
		out = append(out, fmt.Sprintf("in another order:\n%.500q\n%.500q", a, b))
	}
	return out
}

// named is what a client without a file is told of it.
var named = regexp.MustCompile(`^(\[(file|image|[a-z]+/[a-z.+-]+), .*\]\n*)+$|^<file name=`)

// part is a part of a canonical line.
type part struct {
	Type, Text, ID, Call, URI, Base64 string
	Data                              json.RawMessage
	Error                             bool
	Content                           []part
}

// items returns what was said in the live branch of a session, by its canonical lines.
func items(lines []string) (out []item) {
	for _, line := range lines {
		var m struct {
			Type, Branch string
			Role         session.Role
			Parts        []part
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			panic(err)
		}
		if m.Type != "message" || m.Branch != "" {
			continue
		}
		for _, p := range m.Parts {
			out = append(out, p.items(string(m.Role))...)
		}
	}
	return slices.DeleteFunc(out, func(i item) bool { return i.text == "" && i.kind != "boundary" })
}

// tag is a tag around a text, which a client adds.
var tag = regexp.MustCompile(`(?s)^<([\w -]+)[^>]*>\n?(.*?)\n?</([\w -]+)>$`)

func plain(text string) string {
	text = strings.TrimSpace(text)
	for m := tag.FindStringSubmatch(text); m != nil && m[1] == m[3]; m = tag.FindStringSubmatch(text) {
		text = strings.TrimSpace(m[2])
	}
	return text
}

func (p *part) items(role string) (out []item) {
	switch p.Type {
	case "text":
		return []item{{role, plain(p.Text)}}
	case "context", "summary":
		return []item{{p.Type, cmp.Or(plain(p.Text), string(p.Data))}}
	case "thinking":
		return []item{{p.Type, plain(p.Text)}}
	case "tool_call":
		return []item{{"call", p.ID}}
	case "media":
		return []item{{"media", cmp.Or(p.Base64, p.URI)}}
	case "boundary":
		return []item{{p.Type, ""}}
	case "tool_result":
		text := ""
		for _, c := range p.Content {
			if c.Type == "text" {
				text += c.Text
			} else {
				out = append(out, c.items("")...)
			}
		}
		return append([]item{{"result", fmt.Sprint(p.Call, " ", p.Error, " ", text)}}, out...)
	}
	return nil
}

// minus returns the items of a that b lacks.
func minus(a, b []item) (out []item) {
	n := map[item]int{}
	for _, i := range b {
		n[i]++
	}
	for _, i := range a {
		if n[i]--; n[i] < 0 {
			out = append(out, i)
		}
	}
	return out
}

// common returns the items of a that both have once, in order. Files of a prompt come
// after its text, wherever clients keep them.
func common(a, b []item) (out []item) {
	once := func(list []item) map[item]int {
		n := map[item]int{}
		for _, i := range list {
			n[i]++
		}
		return n
	}
	inA, inB := once(a), once(b)
	var files []item
	for _, i := range append(slices.Clone(a), item{}) {
		switch {
		case i.kind != "" && (inA[i] != 1 || inB[i] != 1 || i.kind == "system"):
			continue
		case i.kind == "media":
			files = append(files, i)
			continue
		case i.kind != "user" && i.kind != "context":
			slices.SortFunc(files, func(a, b item) int { return strings.Compare(a.text, b.text) })
			out, files = append(out, files...), nil
		}
		out = append(out, i)
	}
	return out
}
