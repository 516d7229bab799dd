package merge

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// text is lines of canonical text: a session with its head's other members, and messages.
func text(id, head string, words ...string) string {
	out := fmt.Sprintf(`{"type":"session","version":1,"id":%s,"agent":"cursor-cli"%s}`+"\n", id, head)
	for i, w := range words {
		role := []string{"user", "assistant"}[i%2]
		out += fmt.Sprintf(`{"type":"message","id":"m%d","role":"%s","parts":[{"type":"text","text":"%s"}]}`+"\n", i, role, w)
	}
	return out
}

func run2(t *testing.T, sources ...person) (*Result, person) {
	t.Helper()
	var dirs []string
	for _, p := range sources {
		dirs = append(dirs, p.save(t))
	}
	out := filepath.Join(t.TempDir(), "out")
	res, err := Run(t.Context(), all.Registry(), dirs, out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res, tree(t, out)
}

// TestCanonicalForms: sessions are united by what their heads say, whatever files they are
// in: one each or several, in any folder, or twice in one source.
func TestCanonicalForms(t *testing.T) {
	const one, two = `"11111111-1111-4111-8111-111111111111"`, `"22222222-2222-4222-8222-222222222222"`
	a1, b1, a2 := text(one, "", "x", "a"), text(one, "", "x", "b"), text(two, "", "y")
	want := merged(t, person{"cursor-cli/1.jsonl": a1, "cursor-cli/2.jsonl": a2}, person{"cursor-cli/1.jsonl": b1})
	if len(want) != 3 {
		t.Fatalf("%q", want)
	}
	for name, sources := range map[string][]person{
		"several in a file":   {{"all.jsonl": a1 + a2}, {"other.jsonl": b1}},
		"in other files":      {{"all.jsonl": a1, "more.jsonl": a2}, {"cursor-cli/z.jsonl": b1}},
		"twice in a file":     {{"all.jsonl": a1 + a2 + b1}, {"all.jsonl": a2}},
		"twice in a source":   {{"cursor-cli/1.jsonl": b1, "cursor-cli/1-2.jsonl": a1}, {"s.jsonl": a2}},
		"an empty file":       {{"cursor-cli/1.jsonl": a1, "cursor-cli/2.jsonl": a2, "cursor-cli/e.jsonl": ""}, {"cursor-cli/1.jsonl": b1}},
		"a torn continuation": {{"all.jsonl": a1 + a2, "b.jsonl": text(one, "", "x") + `{"type":"mess`}, {"other.jsonl": b1}},
	} {
		_, got := run2(t, sources...)
		same(t, name, got, want)
	}
}

// TestCanonicalDetails: what a client changes in earlier lines is no other conversation.
func TestCanonicalDetails(t *testing.T) {
	const id = `"11111111-1111-4111-8111-111111111111"`
	early := text(id, `,"title":"Old","updated":"2026-01-01T00:00:00.000Z"`, "x")
	early += `{"type":"message","id":"m9","role":"assistant","parts":[{"type":"tool_call","id":"c","name":"Read","start":"2026-01-01T00:00:00.000Z"}]}` + "\n"
	late := strings.NewReplacer("Old", "New", "2026-01-01T", "2026-01-02T", `"role":"user"`, `"role":"user","turn":{"number":1,"status":"finished"},"archived":true`,
		`.000Z"}]}`, `.000Z","end":"2026-01-02T00:00:01.000Z"},{"type":"text","text":"done"}]}`).Replace(early)
	for _, sources := range [][]person{{{"cursor-cli/a.jsonl": early}, {"cursor-cli/a.jsonl": late}}, {{"cursor-cli/a.jsonl": late}, {"cursor-cli/a.jsonl": early}}} {
		res, got := run2(t, sources...)
		if len(res.Sessions) != 1 || res.Sessions[0].Outcome != Continued || got["cursor-cli/11111111-1111-4111-8111-111111111111.jsonl"] != late {
			t.Errorf("%+v: %q", res.Sessions, got)
		}
	}
	newer := strings.Replace(late, "New", "Newest", 1)
	newer = strings.Replace(newer, "02T00", "03T00", 1)
	for _, sources := range [][]person{{{"cursor-cli/a.jsonl": newer}, {"cursor-cli/a.jsonl": late}}, {{"cursor-cli/a.jsonl": late}, {"cursor-cli/a.jsonl": newer}}} {
		if res, got := run2(t, sources...); res.Sessions[0].Outcome != Same || got["cursor-cli/11111111-1111-4111-8111-111111111111.jsonl"] != newer {
			t.Errorf("%+v: %q", res.Sessions, got)
		}
	}
}

// TestCanonicalSubagents: a fork has subagents of its own, whose lines and files have new
// ids; short ids are not replaced where they are words.
func TestCanonicalSubagents(t *testing.T) {
	for _, id := range []string{"agent-11111111-1111-4111-8111-111111111111", "text", "user", `s\u0041`} {
		child := id + "-child"
		side := func(word string) person {
			root := text(`"`+id+`"`, `,"title":"T","children":[{"session":"`+child+`"}]`, "x", word)
			root += `{"type":"message","id":"t","role":"assistant","parts":[{"type":"tool_call","id":"text","name":"Task","child":"` + child + `"}]}` + "\n"
			return person{"cursor-cli/b.jsonl": root, "cursor-cli/a.jsonl": text(`"`+child+`"`, `,"parent":{"session":"`+id+`"}`, "do", word)}
		}
		res, got := run2(t, side("left"), side("right"))
		if len(res.Sessions) != 2 || len(got) != 4 {
			t.Fatalf("%s: %+v, %q", id, res.Sessions, got)
		}
		dir := got.save(t)
		for f, err := range convert.Stores(t.Context(), all.Registry(), dir, "", nil) {
			if err != nil {
				t.Fatal(err)
			}
			parents, titles := map[string]string{}, map[string]string{}
			for s, err := range f.Detected[0].Format.Sessions.Decode(t.Context(), f.Loc, formats.FullView(1), session.Selection{}) {
				if err != nil {
					t.Fatal(err)
				}
				parents[s.ID], titles[s.ID] = "", s.Title
				if s.Parent != nil {
					parents[s.ID] = s.Parent.Session
				}
				for _, c := range s.Children {
					titles[s.ID] += " " + parents[c.Session] + c.Session
				}
				for m, err := range s.Messages {
					if err != nil || m.Role != session.User && m.Role != session.Assistant {
						t.Errorf("%s: %+v, %v", id, m, err)
					}
				}
			}
			old := strings.ReplaceAll(id, `\u0041`, "A")
			for s, title := range titles {
				if up := parents[s]; up != "" && titles[up] == "" || (s == old) != (title == "T "+old+"-child") && up == "" {
					t.Errorf("%s: %q has the title %q", id, s, title)
				}
			}
			if len(titles) != 4 {
				t.Errorf("%s: %q", id, titles)
			}
		}
		rep, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{dir}})
		if err != nil || rep.Count(rule.Error)+rep.Count(rule.Warning) > 0 {
			t.Errorf("%s: %v: %+v", id, err, rep.Stores)
		}
	}
}

// TestSaid: what somebody said stays as it is in a fork, even if that is the session's id.
func TestSaid(t *testing.T) {
	const id = "11111111-1111-4111-8111-111111111111"
	call := `{"type":"message","id":"c","role":"assistant","parts":[{"type":"tool_call","id":"c","name":"Find","args":{"session":"` + id + `","id":"` + id + `"}}]}` + "\n"
	line := `{"role":"user","message":{"content":[{"type":"text","text":"%s"}]}}` + "\n"
	rollout := `{"timestamp":"2026-11-22T11:00:00.000Z","type":"session_meta","payload":{"id":"` + id + `"}}` + "\n" + fmt.Sprintf(codexItem, id)
	for name, said := range map[string]string{
		"cursor-cli/a.jsonl":                                      text(`"`+id+`"`, "", id, id) + call,
		"agent-transcripts/" + id + "/" + id + ".jsonl":           fmt.Sprintf(line, id),
		codexDay + "rollout-2026-11-22T10-41-48-" + id + ".jsonl": rollout,
	} {
		more := func(word string) person {
			switch {
			case strings.HasPrefix(name, "cursor-cli"):
				return person{name: said + strings.Replace(call, `"c"`, `"`+word+`"`, 2)}
			case strings.HasPrefix(name, "agent"):
				return person{name: said + fmt.Sprintf(line, word)}
			}
			return person{name: said + fmt.Sprintf(codexItem, word)}
		}
		out := merged(t, more("ann"), more("ben"))
		if len(out) != 2 {
			t.Errorf("%q", out)
		}
		for _, got := range out {
			_, want, _ := strings.Cut(said, "\n") // a head and its id
			if strings.HasPrefix(name, "agent") {
				want = said
			}
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// TestCanonicalForks: a session that was continued differently and its fork convert to the
// clients. A sidecar of an unreleased build is left out, and a remark says so.
func TestCanonicalForks(t *testing.T) {
	canonical := filepath.Join(t.TempDir(), "text")
	if rep, err := convert.Convert(t.Context(), all.Registry(), chats(t), canonical, convert.Options{To: "canonical"}); err != nil || rep.Failed() > 0 {
		t.Fatal(err)
	}
	base := tree(t, canonical)
	var sides []person
	for _, word := range []string{"left", "right"} {
		side := base.clone()
		for name := range side {
			if strings.HasSuffix(name, ".jsonl") {
				message := `{"type":"message","id":"` + word + `","role":"user","parts":[{"type":"text","text":"` + word + `"}]}` + "\n"
				side[name] = strings.Replace(side[name], `{"type":"file"`, message+`{"type":"file"`, 1)
			}
		}
		sides = append(sides, side)
	}
	same(t, "the same", merged(t, base, base), base)
	old := base.clone()
	for name := range base {
		old[name+formats.SidecarSuffix] = "{}\n"
	}
	if res, got := run2(t, old, sides[0]); len(got) != 1 || !strings.Contains(fmt.Sprint(res.Remarks), "sidecar.ndjson: left out") {
		t.Errorf("%q, %q", slices.Sorted(maps.Keys(got)), res.Remarks)
	}
	_, got := run2(t, sides[0], sides[1])
	dir := got.save(t)
	for _, to := range []string{"claude-code", "cursor-chat", "cursor-sdk"} {
		out := filepath.Join(t.TempDir(), "out")
		if rep, err := convert.Convert(t.Context(), all.Registry(), dir, out, convert.Options{To: to}); err != nil || rep.Failed() > 0 || !rep.Placed {
			t.Errorf("%s: %v, %+v", to, err, rep)
			continue
		}
		if n := len(titles(t, out)); n != 2 {
			t.Errorf("%s: %d sessions", to, n)
		}
	}
	rep, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{dir}})
	if err != nil || rep.Count(rule.Error) > 0 {
		t.Errorf("%v: %+v", err, rep)
	}
}

// TestCanonicalRefused: a file that is not canonical text is an error.
func TestCanonicalRefused(t *testing.T) {
	good := text(`"s"`, "", "x")
	for _, bad := range []string{"{}\n" + good, "words\n", strings.Replace(good, `"version":1`, `"version":9`, 1), text(`""`, "", "x")} {
		var dirs []string
		for range 2 {
			dirs = append(dirs, person{"cursor-cli/a.jsonl": good, "cursor-cli/b.jsonl": bad}.save(t))
		}
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Run(t.Context(), all.Registry(), dirs, out, Options{}); err == nil || !strings.Contains(err.Error(), "b.jsonl") {
			t.Errorf("%.20s: %v", bad, err)
		}
		if _, err := os.Lstat(out); err == nil {
			t.Error("something was written")
		}
	}
}

// TestTranscripts: one in the older form is text, of which the last line needs no break.
func TestTranscripts(t *testing.T) {
	const name = "agent-transcripts/agent-11111111-1111-4111-8111-111111111111.txt"
	base := person{name: "user:\nask\n\nA:\nfine"}
	longer, other := base.clone(), base.clone()
	longer[name] += "\nmore"
	other[name] += ", or not"
	same(t, "the longer one", merged(t, base, longer), longer)
	out := merged(t, other, longer)
	same(t, "another order", merged(t, longer, other), out)
	same(t, "again", merged(t, out, longer), out)
	texts := slices.Sorted(maps.Values(out))
	if len(texts) != 2 || texts[0] != longer[name] && texts[1] != longer[name] || texts[0] != other[name] && texts[1] != other[name] {
		t.Errorf("%q", out)
	}
	for p := range out {
		if !strings.HasPrefix(p, "agent-transcripts/agent-") {
			t.Error(p)
		}
	}
}

// TestCaptures: two captures with a name are two, unless one has what the other one has.
func TestCaptures(t *testing.T) {
	const run = `{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/w","apiKeySource":"login","permissionMode":"default"}` + "\n"
	ann, ben := person{"run.log": run + "ann", "ci/b.jsonl": run}, person{"run.log": run + "ben", "ci/b.jsonl": run + "more\n"}
	res, out := run2(t, ann, ben)
	same(t, "another order", merged(t, ben, ann), out)
	same(t, "again", merged(t, out, ann, ben), out)
	if len(out) != 3 || out["ci/b.jsonl"] != ben["ci/b.jsonl"] || !strings.Contains(fmt.Sprint(res.Remarks), "run.log differs between the sources") {
		t.Errorf("%q, %q", out, res.Remarks)
	}
	for _, p := range []person{ann, ben} {
		if !slices.Contains(slices.Collect(maps.Values(out)), p["run.log"]) {
			t.Errorf("nobody has %q", p["run.log"])
		}
	}
}

// TestJobs: the result does not depend on the number of workers, and progress is reported.
func TestJobs(t *testing.T) {
	a, b := chats(t, "left"), chats(t, "right")
	var trees []person
	for _, jobs := range []int{1, 4} {
		done := map[string]int64{}
		out := filepath.Join(t.TempDir(), "out")
		o := Options{Jobs: jobs, OnProgress: func(p convert.Progress) { done[p.Stage] = max(done[p.Stage], p.Done) }}
		if _, err := Run(t.Context(), all.Registry(), []string{a, b}, out, o); err != nil {
			t.Fatal(err)
		}
		if _, syncing := done["syncing"]; !syncing || done["reading"] == 0 || done["writing"] == 0 {
			t.Errorf("progress: %v", done)
		}
		trees = append(trees, tree(t, out))
	}
	same(t, "with other workers", trees[1], trees[0])
}
