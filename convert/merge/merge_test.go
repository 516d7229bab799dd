package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/internal/fsx"
)

// person is a copy of a store in which somebody works.
type person map[string]string // files by their paths

func (p person) clone() person {
	out := person{}
	for k, v := range p {
		out[k] = v
	}
	return out
}

func (p person) save(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	for name, text := range p {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func tree(t *testing.T, dir string) person {
	t.Helper()
	out := person{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// client is how sessions of a format are begun and continued.
type client struct {
	id  func(n int) string
	say func(p person, id, word string) // a turn, whose prompt is the word
}

func clients() map[string]client {
	line := func(v any) string { b, _ := json.Marshal(v); return string(b) + "\n" }
	type object = map[string]any
	return map[string]client{
		"claude-code": {
			func(n int) string { return fmt.Sprintf("20000000-0000-4000-8000-%012d", n) },
			func(p person, id, word string) {
				p[id+".jsonl"] += line(object{"type": "user", "uuid": "uuid-" + word, "sessionId": id, "message": object{"role": "user", "content": word}, "file": "/p/" + id + "/tool-results/" + word + ".txt"})
				p[id+"/tool-results/"+word+".txt"] = word
			},
		},
		"canonical": {
			func(n int) string { return fmt.Sprintf("20000000-0000-4000-8000-%012d", n) },
			func(p person, id, word string) {
				name := "cursor-cli/" + id + ".jsonl"
				_, messages, _ := strings.Cut(p[name], "\n")
				messages, _, _ = strings.Cut(messages, `{"type":"file"`)
				turn := strings.Count(messages, "\n") + 1
				messages += line(object{"type": "message", "id": "m" + word, "role": "user", "turn": object{"number": turn}, "parts": []any{object{"type": "text", "text": word}}})
				head := fmt.Sprintf(`{"type":"session","version":1,"id":%q,"agent":"cursor-cli","updated":"2026-01-31T12:00:%02d.000Z"}`+"\n", id, turn)
				p[name] = head + messages + line(object{"type": "file", "path": word})
			},
		},
		"cursor-transcript": {
			func(n int) string { return fmt.Sprintf("20000000-0000-4000-8000-%012d", n) },
			func(p person, id, word string) {
				p["agent-transcripts/"+id+"/"+id+".jsonl"] += line(object{"role": "user", "message": object{"content": []any{object{"type": "text", "text": word}}}})
			},
		},
		"codex": {
			func(n int) string { return fmt.Sprintf("20000000-0000-4000-8000-%012d", n) },
			func(p person, id, word string) {
				name := "sessions/2026/11/22/rollout-2026-11-22T10-41-48-" + id + ".jsonl"
				if p[name] == "" {
					p[name] = line(object{"timestamp": "2026-11-22T10:41:48.000Z", "type": "session_meta", "payload": object{"id": id, "timestamp": "2026-11-22T10:41:48.000Z", "cwd": "/w"}})
				}
				p[name] += line(object{"timestamp": "2026-11-22T10:41:48.000Z", "type": "response_item", "payload": object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": word}}}})
			},
		},
		"cursor-ndjson": {
			func(n int) string { return fmt.Sprintf("agent-20000000-0000-4000-8000-%012d", n) },
			func(p person, id, word string) {
				p["rehome.json"] = `{"rehome":"cursor-ndjson","version":1}` + "\n"
				turn := strings.Count(p[id+"/runs.ndjson"], "\n") + 1
				run := "run-" + word
				p[id+"/agents.ndjson"] = line(object{"agentId": id, "cwd": "/w", "status": "idle", "activeRunId": run, "name": "An agent", "createdAt": 1, "updatedAt": turn, "sdkMetadata": object{}, "latestCheckpoint": nil})
				p[id+"/runs.ndjson"] += line(object{"runId": run, "agentId": id, "turnNumber": turn, "status": "finished", "createdAt": turn, "updatedAt": turn})
				p[id+"/run_events.ndjson"] += line(object{"runId": run, "seq": 1, "offset": "1", "eventType": "run_stream_event", "payload": object{"agentId": id, "runId": run, "text": word}, "createdAt": "2026-06-04T11:00:00.010Z"})
				p[id+"/checkpoints.ndjson"] += line(object{"agentId": id, "blobId": word, "dataBase64": ""})
			},
		},
	}
}

func merged(t *testing.T, people ...person) person {
	t.Helper()
	var dirs []string
	for _, p := range people {
		dirs = append(dirs, p.save(t))
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), all.Registry(), dirs, out, Options{}); err != nil {
		t.Fatal(err)
	}
	for i, dir := range dirs {
		same(t, "the source", tree(t, dir), people[i])
	}
	return tree(t, out)
}

func same(t *testing.T, what string, got, want person) {
	t.Helper()
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%s: %s is\n%s\nnot\n%s", what, name, got[name], want[name])
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: no %s", what, name)
		}
	}
}

// said returns the words of each session, and removes the files that are made anew.
func said(p person) (out []string) {
	for name, text := range p {
		if !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, "run_events.ndjson") {
			continue
		}
		var words []string
		for line := range strings.Lines(text) {
			var l struct {
				Message struct{ Content any }
				Payload struct {
					Text    string
					Content []struct{ Text string }
				}
				Parts []struct{ Text string }
			}
			if json.Unmarshal([]byte(line), &l) != nil {
				continue
			}
			if text, ok := l.Message.Content.(string); ok || l.Payload.Text != "" {
				words = append(words, text+l.Payload.Text)
			} else if list, ok := l.Message.Content.([]any); ok {
				words = append(words, list[0].(map[string]any)["text"].(string))
			} else if len(l.Payload.Content) > 0 {
				words = append(words, l.Payload.Content[0].Text)
			} else if len(l.Parts) > 0 {
				words = append(words, l.Parts[0].Text)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	slices.Sort(out)
	return out
}

// TestLaws merges what random people did to one store. Every conversation that one of them
// had is one of the result, or begins one, and there is no other. The order of the sources
// and of the merges makes no difference, and merging again none either.
func TestLaws(t *testing.T) {
	for name, c := range clients() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			forks := 0
			for range 5 {
				people, n := []person{{}, {}, {}}, 0
				for range 2 + random.IntN(9) {
					n++
					from, to := random.IntN(3), random.IntN(3)
					id := c.id(random.IntN(3))
					if random.IntN(4) == 0 && from != to { // by copying the store
						people[to] = people[from].clone()
					}
					c.say(people[to], id, fmt.Sprintf("w%d", n))
				}
				for i := range people { // an empty folder is not a store
					c.say(people[i], c.id(9), "all")
				}
				a, b, d := people[0], people[1], people[2]
				out := merged(t, a, b, d)
				same(t, "another order", merged(t, d, a, b), out)
				same(t, "in two steps", merged(t, merged(t, a, b), d), out)
				same(t, "in two other steps", merged(t, a, merged(t, d, b)), out)
				same(t, "again", merged(t, out, b), out)
				same(t, "with itself", merged(t, a, a), merged(t, a))
				got := said(out)
				var had []string
				for _, p := range people {
					had = append(had, said(p)...)
				}
				for _, one := range had {
					if !slices.ContainsFunc(got, func(s string) bool { return s == one || strings.HasPrefix(s, one+" ") }) {
						t.Errorf("nobody has %q in %q", one, got)
					}
				}
				for _, one := range got {
					if !slices.Contains(had, one) {
						t.Errorf("nobody had %q of %q", one, had)
					}
				}
				forks += len(got)
				if t.Failed() {
					t.FailNow()
				}
			}
			if forks < 20 {
				t.Errorf("only %d sessions in all", forks)
			}
		})
	}
}

// TestForkGrows merges again after the side that became a fork went on: the fork goes on.
func TestForkGrows(t *testing.T) {
	for name, c := range clients() {
		base := person{}
		c.say(base, c.id(1), "base")
		sides := []person{base.clone(), base.clone()}
		c.say(sides[0], c.id(1), "left")
		c.say(sides[1], c.id(1), "right")
		out := merged(t, sides...)
		for i := range sides {
			c.say(sides[i], c.id(1), "more")
		}
		for _, later := range sides {
			got := said(merged(t, out, later))
			if len(got) != 2 || !slices.Contains(got, said(later)[0]) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

// TestShorterCopy: what only a copy has that nobody continued stays with the session.
func TestShorterCopy(t *testing.T) {
	c := clients()["claude-code"]
	base := person{}
	c.say(base, c.id(1), "base")
	a, b := base.clone(), base.clone()
	c.say(a, c.id(1), "left")
	c.say(b, c.id(1), "right")
	base[c.id(1)+"/subagents/agent-x.jsonl"] = "{}\n"
	out := merged(t, a, base, b)
	if out[c.id(1)+"/subagents/agent-x.jsonl"] != "{}\n" || len(said(out)) != 3 { // the subagent says nothing
		t.Errorf("%q", said(out))
	}
}

// TestTorn: a last line that its client did not finish is not a continuation.
func TestTorn(t *testing.T) {
	c := clients()["claude-code"]
	whole := person{}
	c.say(whole, c.id(1), "base")
	torn := whole.clone()
	torn[c.id(1)+".jsonl"] += `{"type":"us`
	c.say(whole, c.id(1), "more")
	same(t, "the result", merged(t, torn, whole), whole)
}

// TestCommonFiles: of files that belong to no session and differ, both are kept.
func TestCommonFiles(t *testing.T) {
	c := clients()["claude-code"]
	a := person{"memory/notes.md": "one", "same.md": "same"}
	c.say(a, c.id(1), "base")
	b := a.clone()
	b["memory/notes.md"] = "two"
	out := merged(t, a, b)
	same(t, "again", merged(t, out, a, b), out)
	kept := []string{}
	for name, text := range out {
		if strings.HasSuffix(name, ".md") {
			kept = append(kept, text)
		}
	}
	slices.Sort(kept)
	if fmt.Sprint(kept) != "[one same two]" {
		t.Errorf("%q", out)
	}
}

// TestDetails: if only the details of a session differ, the newest are kept, and that is
// said.
func TestDetails(t *testing.T) {
	c := clients()["cursor-ndjson"]
	old := person{}
	c.say(old, c.id(1), "base")
	renamed := old.clone()
	agent := c.id(1) + "/agents.ndjson"
	renamed[agent] = strings.NewReplacer("An agent", "Renamed", `"updatedAt":1`, `"updatedAt":2`).Replace(renamed[agent])
	for _, sources := range [][]person{{old, renamed}, {renamed, old}} {
		out := filepath.Join(t.TempDir(), "out")
		res, err := Run(t.Context(), all.Registry(), []string{sources[0].save(t), sources[1].save(t)}, out, Options{})
		if err != nil || len(res.Sessions) != 1 || res.Sessions[0].Outcome != Same || len(res.Remarks) != 1 || !strings.Contains(tree(t, out)[agent], "Renamed") {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// TestReferences: nothing in a fork refers to the session or the runs that it is a copy of.
func TestReferences(t *testing.T) {
	for name, c := range clients() {
		base := person{}
		c.say(base, c.id(1), "base")
		a, b := base.clone(), base.clone()
		c.say(a, c.id(1), "left")
		c.say(b, c.id(1), "right")
		out := merged(t, a, b)
		forks := 0
		for file, text := range out {
			if strings.Contains(file, c.id(1)) || strings.HasSuffix(file, ".json") || strings.HasSuffix(file, ".gitattributes") {
				continue
			}
			forks++
			if strings.Contains(text, c.id(1)) || strings.Contains(text, `"run-base"`) {
				t.Errorf("%s: %s refers to the session that it is a fork of: %s", name, file, text)
			}
		}
		if forks == 0 {
			t.Errorf("%s: no fork in %v", name, out)
		}
		at := out.save(t)
		rep, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{at}})
		if err != nil || name == "cursor-ndjson" && rep.Count(rule.Error) > 0 {
			t.Errorf("%s: %v: %+v", name, err, rep)
		}
	}
}

// TestPlacing: if the rename fails, there is what there was.
func TestPlacing(t *testing.T) {
	c := clients()["claude-code"]
	a := person{}
	c.say(a, c.id(1), "a")
	src, out := a.save(t), filepath.Join(t.TempDir(), "out")
	old := person{"mine": "mine"}
	os.CopyFS(out, os.DirFS(old.save(t)))
	for fails := 1; fails <= 3; fails++ {
		n := 0
		_, err := run(t.Context(), all.Registry(), []string{src, src}, out, Options{Replace: true}, func(from, to string) error {
			if n++; n == fails {
				return os.ErrPermission
			}
			return fsx.Move(from, to)
		})
		if want := fails <= 2; (err != nil) != want {
			t.Errorf("rename %d: %v", fails, err)
		} else if want {
			same(t, "after the error", tree(t, filepath.Dir(out)), person{"out/mine": "mine"})
		}
	}
	same(t, "the old one", tree(t, out+".bak-1"), old)
}

// TestPlacingBeside: another program may make the folder above the result meanwhile.
func TestPlacingBeside(t *testing.T) {
	c := clients()["claude-code"]
	a := person{}
	c.say(a, c.id(1), "a")
	src, dir := a.save(t), t.TempDir()
	out, made := filepath.Join(dir, "new", "out"), false
	_, err := run(t.Context(), all.Registry(), []string{src, src}, out, Options{}, func(from, to string) error {
		if !made {
			made = true
			if err := os.Mkdir(filepath.Join(dir, "new"), 0o700); err != nil {
				return err
			}
		}
		return fsx.Move(from, to)
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the result", tree(t, out), a)
}
