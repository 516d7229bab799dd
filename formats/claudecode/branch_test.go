package claudecode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
)

func on(branch string, m *session.Message) *session.Message {
	m.Branch = branch
	return m
}

// heard is what the client would send of a file, as words.
func heard(w *written) (out []string) {
	for _, turn := range sent(w) {
		for _, b := range turn["content"].([]any) {
			b := b.(map[string]any)
			switch b["type"] {
			case "text":
				out = append(out, b["text"].(string))
			case "tool_use":
				out = append(out, fmt.Sprint("call ", b["id"]))
			case "tool_result":
				out = append(out, fmt.Sprint("result ", b["tool_use_id"]))
			}
		}
	}
	return out
}

// ended: both ways to find the end of a session come to the same line: the last
// thing said in the file, and the one with the latest time; and no line hangs
// on it, which is how the Agent SDK finds it.
func ended(t *testing.T, w *written) {
	t.Helper()
	last, latest, id := "", "", ""
	for _, l := range w.lines {
		if l["type"] != "user" && l["type"] != "assistant" {
			continue
		}
		last = l["uuid"].(string)
		if at := l["timestamp"].(string); at > latest {
			latest, id = at, last
		}
	}
	if last != id {
		t.Error("the last line is not the latest")
	}
	for _, l := range w.lines {
		if l["parentUuid"] == last && l["type"] != "system" {
			t.Error("a line hangs on the last one")
		}
	}
}

// branchy writes a session whose branches grow from messages, by their names.
func branchy(t *testing.T, from map[string]string, list ...*session.Message) *written {
	t.Helper()
	s := chat(list...)
	for _, m := range list {
		if m.Branch != "" && !slices.ContainsFunc(s.Branches, func(b session.Branch) bool { return b.Name == m.Branch }) {
			s.Branches = append(s.Branches, session.Branch{Name: m.Branch, From: from[m.Branch]})
		}
	}
	w := encoded(t, s, formats.SessionBuild{})
	lint(t, w)
	ended(t, w)
	return w
}

// TestBranches: turns that somebody went back on stand in the file, each where
// it grew from, and the client goes on as if they did not.
func TestBranches(t *testing.T) {
	live := func() []*session.Message {
		list := []*session.Message{
			say(session.User, words("one")), say(session.Assistant, words("two"), calling("a", "Shell")), say(session.Tool, resulting("a", "x")),
			say(session.User, words("three")), say(session.Assistant, words("four")),
		}
		for i, m := range list {
			m.ID = fmt.Sprint("m", i)
			m.At = session.Stored(1_760_000_000_000 + int64(i)*60_000)
		}
		return list
	}
	want := []string{"one", "two", "call a", "result a", "three", "four"}
	turn := func(name, prompt string) []*session.Message {
		ask, answer := on(name, say(session.User, words(prompt))), on(name, say(session.Assistant, words("no, "+prompt), calling("c-"+prompt, "Shell")))
		ask.ID, answer.ID = name+"-0", name+"-1"
		ask.At = session.Stored(1_770_000_000_000) // behind all of the live ones
		return []*session.Message{ask, answer, on(name, say(session.Tool, resulting("c-"+prompt, "y")))}
	}
	for _, c := range []struct {
		name string
		from map[string]string
		more []*session.Message
		ways []string // what is said on the way to each branch's end
	}{
		{"in the middle", map[string]string{"b": "m2"}, turn("b", "maybe"), []string{"one|two|call a|result a|maybe|no, maybe|call c-maybe|result c-maybe"}},
		{"of a call", map[string]string{"b": "m1"}, turn("b", "maybe"), []string{"one|two|call a|result a|maybe|no, maybe|call c-maybe|result c-maybe"}},
		{"at the start", map[string]string{}, turn("b", "maybe"), []string{"maybe|no, maybe|call c-maybe|result c-maybe"}},
		{"of nothing that is there", map[string]string{"b": "gone"}, turn("b", "maybe"), []string{"maybe|no, maybe|call c-maybe|result c-maybe"}},
		{"behind the last", map[string]string{"b": "m4"}, turn("b", "maybe"), []string{"one|two|call a|result a|three|four|maybe|no, maybe|call c-maybe|result c-maybe"}},
		{"two, and one of a branch", map[string]string{"b": "m2", "c": "m2", "d": "b-0"}, slices.Concat(turn("b", "maybe"), turn("c", "else"), turn("d", "deep")),
			[]string{"one|two|call a|result a|maybe|no, maybe|call c-maybe|result c-maybe", "one|two|call a|result a|else|no, else|call c-else|result c-else", "one|two|call a|result a|maybe|deep|no, deep|call c-deep|result c-deep"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := branchy(t, c.from, append(live(), c.more...)...)
			if got := heard(w); !slices.Equal(got, want) {
				t.Errorf("the client hears %q", got)
			}
			if got := grave(asks(t, w.path, allLayers, 1)); len(got) > 0 {
				t.Errorf("the rules find %v", got)
			}
			if got := ways(w); !slices.Equal(got, c.ways) {
				t.Errorf("the branches are\n%s", strings.Join(got, "\n"))
			}
			if !w.noted(loss.BranchHidden) {
				t.Errorf("not noted: %v", w.notes)
			}
			plain := encoded(t, chat(live()...), formats.SessionBuild{})
			if a, b := times(plain), times(w); !slices.Equal(a, b) {
				t.Errorf("the live branch has the times %v, without branches %v", b, a)
			}
			got := spelled(t, w.path, session.Selection{History: true})
			if n := bytes.Count(got, []byte(`"branch":"branch-`)); n < len(c.more) {
				t.Errorf("%d messages of branches came back of %d:\n%s", n, len(c.more), got)
			}
			golden.Bytes(t, "canonical-to-claude-code/branch-"+strings.ReplaceAll(strings.ReplaceAll(c.name, ",", ""), " ", "-")+".txt", outlined(w))
		})
	}
}

// times are those of the live lines, to the second.
func times(w *written) (out []string) {
	for _, l := range w.lines {
		mark, _ := l["rehome"].(map[string]any)
		if at, ok := l["timestamp"].(string); ok && mark["branch"] == nil {
			out = append(out, at[:19])
		}
	}
	return out
}

// ways are what is said on the way to the end of each branch.
func ways(w *written) (out []string) {
	ends, order := map[string]string{}, []string{}
	for _, l := range w.lines {
		if mark, _ := l["rehome"].(map[string]any); mark["branch"] != nil {
			name := mark["branch"].(string)
			if ends[name] == "" {
				order = append(order, name)
			}
			ends[name] = l["uuid"].(string)
		}
	}
	for _, name := range order {
		byID := map[string]map[string]any{}
		for _, l := range w.lines {
			if id, ok := l["uuid"].(string); ok {
				byID[id] = l
			}
		}
		cut := &written{}
		for id := ends[name]; id != ""; id, _ = byID[id]["parentUuid"].(string) {
			cut.lines = append([]map[string]any{byID[id]}, cut.lines...)
		}
		out = append(out, strings.Join(heard(cut), "|"))
	}
	return out
}

// A branch behind a last response with calls begins with a copy of all of it,
// under names of its own: lines of one response are put together by the client.
func TestBranchBehindCalls(t *testing.T) {
	ask, step, result := say(session.User, words("one")), say(session.Assistant, words("two"), calling("a b", "Shell"), calling("c", "Shell")), say(session.Tool, resulting("a b", "x"))
	ask.ID, step.ID, result.ID = "m0", "m1", "m2"
	w := branchy(t, map[string]string{"b": "m2"}, ask, step, result, on("b", say(session.User, words("three"))))
	got := ways(w)
	if len(got) != 1 || strings.Count(got[0], "|") != 6 || !strings.HasSuffix(got[0], "|three") || !strings.HasPrefix(got[0], "one|two|call ") {
		t.Errorf("%q", got)
	}
	seen, of := map[any]string{}, map[any]bool{}
	for _, l := range w.lines {
		m, _ := l["message"].(map[string]any)
		mark, _ := l["rehome"].(map[string]any)
		branch := fmt.Sprint(mark["branch"])
		if m["id"] == nil {
			continue
		}
		if other, ok := seen[m["id"]]; ok && other != branch {
			t.Error("one response is on two branches")
		}
		seen[m["id"]] = branch
		for _, b := range m["content"].([]any) {
			if id := b.(map[string]any)["id"]; id != nil {
				if of[id] {
					t.Errorf("two calls are called %v", id)
				}
				of[id] = true
			}
		}
	}
	if len(seen) != 2 || len(of) != 4 {
		t.Errorf("%d responses, %d calls", len(seen), len(of))
	}
}

// Without their names in the head, nothing of branches is written.
func TestBranchesUnasked(t *testing.T) {
	w := encoded(t, chat(say(session.User, words("one")), on("b", say(session.User, words("two")))), formats.SessionBuild{})
	if data, _ := os.ReadFile(w.path); bytes.Contains(data, []byte("two")) || !w.noted(loss.TurnAbandoned) {
		t.Errorf("%s\n%v", data, w.notes)
	}
}

// TestRandomBranches: whatever the branches are, the client hears what it would
// hear without them.
func TestRandomBranches(t *testing.T) {
	image := picture(t)
	for seed := range uint64(120) {
		r := &maker{Rand: rand.New(rand.NewPCG(seed, 11))}
		list, head := r.session(image)
		head.Parent = nil
		for i, m := range list {
			m.ID = fmt.Sprint("m", i)
		}
		alone := heard(encoded(t, &session.Session{Head: head, Messages: stream(list...)}, formats.SessionBuild{}))
		s := &session.Session{Head: head}
		names := []string{"", "gone"}
		for i := range len(list) {
			names = append(names, fmt.Sprint("m", i))
		}
		all := list
		for b := range 1 + r.IntN(4) {
			name := fmt.Sprint("b", b)
			s.Branches = append(s.Branches, session.Branch{Name: name, From: pick(r, names...)})
			more, _ := r.session(image)
			for i, m := range more {
				m.ID, m.Branch = fmt.Sprint(name, "-", i), name
				names = append(names, m.ID)
			}
			all = append(all, more...)
		}
		s.Messages = stream(all...)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := encoded(t, s, formats.SessionBuild{})
			lint(t, w)
			ended(t, w)
			if got := heard(w); !slices.Equal(got, alone) {
				t.Errorf("the client hears\n%q, without branches\n%q", got, alone)
			}
			spelled(t, w.path, session.Selection{History: true})
		})
	}
}
