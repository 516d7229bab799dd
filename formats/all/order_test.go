package all_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// item is one piece of what a model is sent: a text, a thought, a call, a result or an image.
type item struct {
	Role    string `json:"role,omitempty"`
	Kind    string `json:"kind"`
	Text    string `json:"text,omitempty"`
	ID      string `json:"id,omitempty"`
	Name    string `json:"name,omitempty"`
	Args    any    `json:"args,omitempty"`
	Error   bool   `json:"error,omitempty"`
	Content []item `json:"content,omitempty"`

	of   string // the name of the call that it is the result of
	from string // the source, if it is not the main one of the session
	turn string // the kind of turn that it is of
}

func (i item) String() string {
	b, _ := json.Marshal(i)
	return string(b)
}

// request is what a real client sent to its model when it resumed one of its own sessions. The
// files in testdata/requests are written by `testdata/interop/run record`.
type request struct {
	Client, Format, Source, Session string
	Refused                         string // why the client does not resume the session
	Items                           []item
}

// normal is a rule that makes one side of the comparison like the other. Shown names
// the recorded request that shows it.
type normal struct {
	Client, Why, Shown string
	On                 string // request or canonical
	Role, Kind         string // of the items that it is for; any if empty
	Match              string // on the text
	Name               string // of the call, also for its result
	From               string // the source that it was taken from
	Turn               string // the kind of turn that it is of
	Drop               bool
	Text, Become, As   string // what the text, the kind and the role are instead
	Rename             string // what the call's name is instead
	Member             string // the text is this member of the JSON object that it is
	Unfailed           bool   // it is not said that the result is a failure
	Failed             bool   // the words say that the result is a failure
	ByCalls            bool   // results that follow one another are in the order of their calls
}

// apart is a request of a session that no client wrote by itself.
type apart struct {
	Why  string
	More []string // what is live and was not sent, by its role, its kind and what it says
	Loss string   // what the reader reports of the session
}

const requestsFolder = "../../testdata/requests"

// TestOrder: the live messages of a session are what the real client sends to its model when it
// resumes the session: the same texts, thoughts, calls and results, by the same roles, in the
// same order.
func TestOrder(t *testing.T) {
	rules, requests, apart := normals(t), recorded(t), setApart(t)
	formats := map[string]bool{}
	for _, r := range requests {
		formats[r.Format] = true
	}
	compared := map[string]int{}
	for format := range formats {
		t.Run(format, func(t *testing.T) {
			for name, r := range requests {
				if r.Refused != "" || r.Format != format {
					continue
				}
				got := live(t, r, rules)
				if one, is := apart[name]; is {
					got = one.without(t, name, got)
					one.reported(t, name, r)
				}
				if bad := disorder(sent(r, rules), got); bad != "" {
					t.Errorf("%s: %s", name, bad)
				}
				compared[r.Format]++
			}
			least := map[string]int{"claude-code": 11, "codex": 5, "cursor-ndjson": 4, "cursor-sdk": 4, "cursor-chat": 2, "gemini": 4, "pi": 3, "copilot": 5, "opencode": 5}
			if compared[format] < least[format] {
				t.Errorf("%d sessions compared, want %d", compared[format], least[format])
			}
		})
	}
	more := 0
	for _, one := range apart {
		more += len(one.More)
	}
	if len(apart) > 6 || more > 29 {
		t.Errorf("%d requests are set apart, with %d parts that were not sent; the ceilings are 6 and 29", len(apart), more)
	}
}

// without returns items without those that were not sent. Each of these must be there.
func (a apart) without(t *testing.T, name string, items []item) []item {
	t.Helper()
	out := slices.Clone(items)
	for _, more := range a.More {
		i := slices.IndexFunc(out, func(i item) bool { return i.brief() == more })
		if i < 0 {
			t.Errorf("%s: %q is set apart, and not live", name, more)
			continue
		}
		out = slices.Delete(out, i, i+1)
	}
	if len(a.More) == 0 || a.Why == "" {
		t.Errorf("%s: nothing is set apart, or there is no reason", name)
	}
	return out
}

// brief names an item of a session.
func (i item) brief() string { return strings.TrimSpace(i.Role + " " + i.Kind + " " + i.ID + i.Text) }

// reported requires that the reader reports a session that the client sends in another way.
func (a apart) reported(t *testing.T, name string, r request) {
	t.Helper()
	var lost loss.Log
	view := formats.View{OnLoss: lost.Add}
	for s, err := range decodeRequest(t, r, view) {
		if err != nil {
			continue // of other sessions
		}
		for _, err := range s.Messages {
			if err != nil {
				t.Error(name, err)
			}
		}
	}
	if a.Loss != "" && !slices.ContainsFunc(lost.Groups(), func(g loss.Group) bool { return string(g.Code) == a.Loss }) {
		t.Errorf("%s: %s is not reported", name, a.Loss)
	}
}

// TestOrderRules: each rule is needed by the request that it names, and no client has more
// than 12.
func TestOrderRules(t *testing.T) {
	rules, requests := normals(t), recorded(t)
	count := map[string]int{}
	for n, rule := range rules {
		r, ok := requests[rule.Shown]
		if count[rule.Client]++; !ok || rule.Why == "" || !strings.HasPrefix(r.Client, rule.Client) {
			t.Errorf("rule %d for %s: no request of that client shows it, or it has no reason", n, rule.Client)
			continue
		}
		less := slices.Delete(slices.Clone(rules), n, n+1)
		if disorder(sent(r, less), live(t, r, less)) == "" {
			t.Errorf("rule %d for %s: %s is as it should be without it", n, rule.Client, rule.Shown)
		}
	}
	for client, n := range count {
		if n > 12 {
			t.Errorf("%s: %d rules; the ceiling is 12", client, n)
		}
	}
}

// TestOrderFails: the law finds a swapped pair, a missing part, a wrong role, changed words, and
// an abandoned branch that is told as live, in each session in which there is one.
func TestOrderFails(t *testing.T) {
	rules, apart, found := normals(t), setApart(t), map[string]int{}
	for name, r := range recorded(t) {
		if r.Refused != "" {
			continue
		}
		want, got := sent(r, rules), live(t, r, rules)
		if one, is := apart[name]; is {
			got = one.without(t, name, got)
		}
		fault := func(what string, items []item) {
			if found[what]++; disorder(want, items) == "" {
				t.Errorf("%s: %s: not found", name, what)
			}
		}
		for i := range got {
			fault(got[i].Kind+" gone", slices.Delete(slices.Clone(got), i, i+1))
			changed := func(what string, change func(*item)) {
				items := slices.Clone(got)
				change(&items[i])
				fault(what, items)
			}
			changed("role", func(it *item) { it.Role += "x" })
			changed("words", func(it *item) { it.Text += "x" })
			changed("id", func(it *item) { it.ID += "x" })
			changed("failure", func(it *item) { it.Error = !it.Error })
			if i > 0 && got[i].String() != got[i-1].String() {
				swapped := slices.Clone(got)
				swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
				fault("swapped", swapped)
			}
		}
		var branches []item
		for _, m := range messagesOf(t, r, true) {
			branches = append(branches, itemsOf(m)...)
		}
		if branches = normalized(r.Client, "canonical", branches, rules); len(branches) != len(got) {
			fault("branch", branches)
		}
	}
	for _, what := range []string{"text gone", "thinking gone", "call gone", "result gone", "image gone", "role", "words", "id", "failure",
		"swapped", "branch"} {
		if found[what] == 0 {
			t.Errorf("%s: no request has any", what)
		}
	}
}

// setApart returns the requests that differ, with the reasons.
func setApart(t *testing.T) (out map[string]apart) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(requestsFolder, "apart.json"))
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func normals(t *testing.T) (rules []normal) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(requestsFolder, "normal.json"))
	if err == nil {
		err = json.Unmarshal(b, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func recorded(t *testing.T) map[string]request {
	t.Helper()
	out := map[string]request{}
	names, err := filepath.Glob(requestsFolder + "/*-*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		var r request
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		out[filepath.Base(name)] = r
	}
	return out
}

// sent returns what the request has, after the rules for it.
func sent(r request, rules []normal) []item { return normalized(r.Client, "request", r.Items, rules) }

// live returns the items of the live branch of the request's session, as its codec decodes it.
func live(t *testing.T, r request, rules []normal) []item {
	t.Helper()
	var items []item
	turn, names := "", map[string]string{}
	for _, m := range messagesOf(t, r, false) {
		if m.Turn != nil {
			turn = m.Turn.Kind
		}
		for _, i := range itemsOf(m) {
			if i.turn = turn; i.Kind == "call" {
				names[i.ID] = i.Name
			}
			items = append(items, i)
		}
	}
	for n := range items {
		if items[n].Kind == "result" {
			items[n].of = names[items[n].ID]
		}
	}
	return normalized(r.Client, "canonical", items, rules)
}

// messagesOf returns the messages of the request's session; branches: also those that the
// client does not send.
func messagesOf(t *testing.T, r request, branches bool) (out []*session.Message) {
	t.Helper()
	for s, err := range decodeRequest(t, r, formats.View{}) {
		if err != nil {
			continue
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			if s.ID == r.Session && (branches || m.Branch == "" && !m.Archived) {
				out = append(out, m)
			}
		}
	}
	return out
}

// decodeRequest decodes the store of a request's session.
func decodeRequest(t *testing.T, r request, view formats.View) iter.Seq2[*session.Session, error] {
	t.Helper()
	path := filepath.FromSlash(r.Source)
	if !filepath.IsAbs(path) {
		path = filepath.Join("../../testdata", path)
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	return all.Registry().Lookup(r.Format).Sessions.Decode(t.Context(), l, view, session.Selection{History: true})
}

// itemsOf returns the parts of a message as items.
func itemsOf(m *session.Message) (out []item) {
	for _, p := range m.Parts {
		i := itemOf(p)
		i.Role = string(m.Role)
		out = append(out, i)
	}
	return out
}

func itemOf(p session.Part) item {
	switch p := p.(type) {
	case *session.Text:
		return item{Kind: "text", Text: brief(p.Text).(string), from: p.From}
	case *session.Injected:
		return item{Kind: "injected", Text: p.Tag}
	case *session.Thinking:
		return item{Kind: "thinking", Text: brief(p.Text + p.Data).(string), from: p.From}
	case *session.ToolCall:
		args := p.Input
		if args == nil {
			args = p.Args
		}
		var v any
		_ = json.Unmarshal(args, &v)
		return item{Kind: "call", ID: p.ID, Name: p.Name, Args: brief(v), from: p.From}
	case *session.ToolResult:
		i := item{Kind: "result", ID: p.Call, Error: p.Error, from: p.From}
		for _, c := range p.Content {
			i.Content = append(i.Content, itemOf(c))
		}
		return i
	case *session.Media:
		return item{Kind: "image", Text: digested(p.Data)}
	case *session.Summary:
		return item{Kind: "summary", Text: brief(p.Text).(string)}
	case *session.Boundary:
		return item{Kind: "boundary"}
	case *session.Opaque:
		return item{Kind: "opaque", Text: p.Kind, from: p.From}
	}
	return item{Kind: fmt.Sprintf("%T", p)}
}

// brief shortens long strings to their digests, in a value of any shape, as
// testdata/interop/requests.mjs does.
func brief(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > 200 {
			return digested([]byte(v))
		}
	case []any:
		for i := range v {
			v[i] = brief(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = brief(v[name])
		}
	}
	return v
}

func digested(b []byte) string { return fmt.Sprintf("sha256:%x, %d bytes", sha256.Sum256(b), len(b)) }

// normalized applies the rules of a client, in their order, to one side.
func normalized(client, side string, items []item, rules []normal) []item {
	out := slices.Clone(items)
	for _, r := range rules {
		if !strings.HasPrefix(client, r.Client) || r.On != side {
			continue
		}
		if r.ByCalls {
			byCalls(out)
			continue
		}
		match := regexp.MustCompile(r.Match)
		out = slices.DeleteFunc(out, func(i item) bool { return r.Drop && r.of(i, match) })
		for n := range out {
			r.change(&out[n], match)
			out[n].Content = slices.Clone(out[n].Content)
			out[n].Content = slices.DeleteFunc(out[n].Content, func(i item) bool {
				i.Role = out[n].Role
				return r.Drop && r.of(i, match)
			})
			for c := range out[n].Content {
				r.change(&out[n].Content[c], match)
			}
		}
	}
	return out
}

// of reports whether a rule is for an item. What a result says is its content.
func (r normal) of(i item, match *regexp.Regexp) bool {
	words := i.Text
	if len(i.Content) > 0 {
		words = i.Content[0].Text
	}
	kind := r.Kind == "" || slices.Contains(strings.Split(r.Kind, "|"), i.Kind)
	is := func(want, have string) bool { return want == "" || want == have }
	return kind && is(r.Role, i.Role) && is(r.Name, cmp.Or(i.Name, i.of)) && is(r.From, i.from) && is(r.Turn, i.turn) &&
		match.MatchString(words)
}

func (r normal) change(i *item, match *regexp.Regexp) {
	if r.Drop || !r.of(*i, match) {
		return
	}
	if r.Text != "" {
		i.Text = match.ReplaceAllString(i.Text, r.Text)
	}
	if r.Member != "" {
		var o map[string]any
		if json.Unmarshal([]byte(i.Text), &o) == nil {
			i.Text, _ = o[r.Member].(string)
		}
	}
	i.Kind, i.Role, i.Name = cmp.Or(r.Become, i.Kind), cmp.Or(r.As, i.Role), cmp.Or(r.Rename, i.Name)
	i.Error = (i.Error || r.Failed) && !r.Unfailed
}

// byCalls puts results that follow one another in the order of their calls.
func byCalls(items []item) {
	at := map[string]int{}
	for n := 0; n < len(items); n++ {
		if items[n].Kind == "call" {
			at[items[n].ID] = n
		}
		end := n
		for end < len(items) && items[end].Kind == "result" {
			end++
		}
		slices.SortStableFunc(items[n:end], func(a, b item) int { return cmp.Compare(at[a.ID], at[b.ID]) })
		n = max(n, end-1)
	}
}

// disorder returns the first difference between what was sent and what is live, or "".
func disorder(want, got []item) string {
	for n := range max(len(want), len(got)) {
		var a, b item
		if n < len(want) {
			a = want[n]
		}
		if n < len(got) {
			b = got[n]
		}
		if a.String() != b.String() {
			return fmt.Sprintf("item %d\nsent  %v\nlive  %v", n, a, b)
		}
	}
	return ""
}
