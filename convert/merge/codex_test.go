package merge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/formats/session"
)

const (
	codexDay  = "sessions/2026/11/22/"
	codexBase = codexDay + "rollout-2026-11-22T10-41-48-01a202d9-0bc4-7c43-8649-9dd2023444fc.jsonl"
	codexFork = "01a202d9-2368-7873-a054-23b9276e6410" // the client forked it from codexBase
	codexItem = `{"timestamp":"2026-11-22T11:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}` + "\n"
)

// codexHome is what the real client wrote, with files beside it that are no sessions.
func codexHome(t *testing.T) person {
	t.Helper()
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	p := tree(t, filepath.Join(home, "..", "..", "testdata", "codex", "home"))
	p["auth.json"], p["config.toml"], p["history.jsonl"] = "{}", "x", `{"text":"all"}`+"\n"
	return p
}

func codexMeta(id string) string {
	return `{"timestamp":"2026-11-22T11:00:00.000Z","type":"session_meta","payload":{"id":"` + id + `","timestamp":"2026-11-22T11:00:00.000Z"}}` + "\n"
}

// prompts lists what was said in each session of a store, by its id.
func prompts(t *testing.T, dir string) map[string]string {
	t.Helper()
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for s, err := range all.Registry().Lookup("codex").Sessions.Decode(t.Context(), l, formats.FullView(1), session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range m.Parts {
				if text, ok := p.(*session.Text); ok {
					out[s.ID] += text.Text + "\n"
				}
			}
		}
	}
	return out
}

// TestCodexBase: a session that the client forked has only its own lines, after so many
// bytes of another session. If that one becomes a fork, so does this one, with what it was.
func TestCodexBase(t *testing.T) {
	kept := map[bool]bool{}
	for _, word := range []string{"Ben", "Bob", "Bea"} { // which copy keeps the id depends on it
		kept[codexBaseOf(t, word)] = true
	}
	if len(kept) != 2 {
		t.Error("always the same copy keeps the id")
	}
}

// codexBaseOf merges a store and one in which somebody said something else, and reports
// whether the session of the first one keeps its id.
func codexBaseOf(t *testing.T, word string) bool {
	ann, ben := codexHome(t), codexHome(t)
	lines := strings.SplitAfter(ann[codexBase], "\n")
	ben[codexBase] = strings.Join(lines[:len(lines)/2], "") + fmt.Sprintf(codexItem, word)
	for name := range ben { // he has not the session that needs what he lacks
		if strings.Contains(name, codexFork) {
			delete(ben, name)
		}
	}
	ben["history.jsonl"] += `{"text":"ben"}` + "\n"
	had := map[string]bool{}
	for _, p := range []person{ann, ben} {
		for _, said := range prompts(t, p.save(t)) {
			had[said] = true
		}
	}
	out := merged(t, ann, ben)
	same(t, "another order", merged(t, ben, ann), out)
	same(t, "again", merged(t, out, ann, ben), out)
	if out["history.jsonl"] != ben["history.jsonl"] || out["auth.json"] != "" || out["config.toml"] != "" {
		t.Errorf("%q", out["history.jsonl"])
	}
	dir := out.save(t)
	got := prompts(t, dir)
	if res, _ := run2(t, ann, ben); len(res.Sessions) != len(got) {
		t.Errorf("%d sessions, reported %+v", len(got), res.Sessions)
	}
	for id, said := range got {
		if !had[said] {
			t.Errorf("nobody had %s: %q", id, said)
		}
		delete(had, said)
	}
	if len(had) > 0 {
		t.Errorf("lost: %v", had)
	}
	rep, err := check.Check(t.Context(), all.Registry(), check.Options{Paths: []string{dir}})
	if err != nil || rep.Count(rule.Error)+rep.Count(rule.Warning) > 0 {
		t.Errorf("%v: %+v", err, rep.Stores)
	}
	for name, text := range out {
		for line := range bytes.Lines([]byte(text)) {
			if !json.Valid(line) {
				t.Errorf("%s: %.80s", name, line)
			}
		}
	}
	return out[codexBase] == ann[codexBase]
}

// TestCodexPlaces: one archived a session, the other continued it: it is one session, where
// the longer copy is.
func TestCodexPlaces(t *testing.T) {
	home := codexHome(t)
	ann, ben := home.clone(), home.clone()
	archived := "archived_sessions/" + path.Base(codexBase)
	ann[archived] = ann[codexBase]
	delete(ann, codexBase)
	for _, sources := range [][]person{{ann, ben}, {ben, ann}} {
		if out := merged(t, sources...); out[archived] != "" || out[codexBase] != home[codexBase] {
			t.Error("not where nobody archived it")
		}
	}
	ann[archived] += fmt.Sprintf(codexItem, "Ann")
	for _, sources := range [][]person{{ann, ben}, {ben, ann}} {
		if out := merged(t, sources...); out[codexBase] != "" || out[archived] != ann[archived] {
			t.Error("not where it was continued")
		}
	}
	loose := person{"a.jsonl": ann[archived]}
	if out := merged(t, loose, loose); len(out) != 1 || out[path.Base(codexBase)] != ann[archived] {
		t.Errorf("%d files", len(out))
	}
}

// TestCodexOrphan: nobody knows what a session goes on with if its source lacks that.
func TestCodexOrphan(t *testing.T) {
	ann, ben, carl := codexHome(t), person{}, person{}
	for name, text := range ann {
		if strings.Contains(name, codexFork) {
			carl[name] = text
			delete(ann, name)
		}
	}
	same(t, "of one", merged(t, ann, carl), merged(t, codexHome(t), carl))
	ben[codexBase] = ann[codexBase] + fmt.Sprintf(codexItem, "ben")
	ann[codexBase] += fmt.Sprintf(codexItem, "ann")
	for _, sources := range [][]person{{ann, ben, carl}, {carl, ben, ann}} {
		var dirs []string
		for _, p := range sources {
			dirs = append(dirs, p.save(t))
		}
		_, err := Run(t.Context(), all.Registry(), dirs, filepath.Join(t.TempDir(), "out"), Options{})
		if err == nil || !strings.Contains(err.Error(), codexFork) || !strings.Contains(err.Error(), "continues session") {
			t.Errorf("%v", err)
		}
	}
}

// TestCodexNames: the name of a file has the time of its machine, and a file with another
// name gets one: a session is one, whatever its files are called.
func TestCodexNames(t *testing.T) {
	const id = "01a202d9-0bc4-7c43-8649-eeeeeeeeeeee"
	said := codexMeta(id) + fmt.Sprintf(codexItem, "ask")
	early, late := codexDay+"rollout-2026-11-22T10-00-00-"+id+".jsonl", codexDay+"rollout-2026-11-22T12-00-00-"+id+".jsonl"
	for _, name := range []string{late, "a.jsonl"} {
		longer := person{early: said + fmt.Sprintf(codexItem, "more")}
		if name == "a.jsonl" {
			longer = person{path.Base(early): longer[early]}
		}
		same(t, "the longer one", merged(t, person{name: said}, longer), longer)
	}
	ann, ben := person{early: said + fmt.Sprintf(codexItem, "ann")}, person{late: said + fmt.Sprintf(codexItem, "ben")}
	res, out := run2(t, ann, ben)
	same(t, "another order", merged(t, ben, ann), out)
	same(t, "again", merged(t, out, ann, ben), out)
	if len(out) != 2 || len(res.Sessions) != 2 || res.Sessions[0].Outcome == Continued {
		t.Errorf("%+v, %q", res.Sessions, out)
	}
	if got := prompts(t, out.save(t)); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestCodexOdd: compressed rollouts are not rewritten, and what has no id of a session is
// kept as it is.
func TestCodexOdd(t *testing.T) {
	const uncommon = codexDay + "rollout-2026-11-22T10-41-48-01a202d9-0bc4-7c43-8649-eeeeeeeeeeee.jsonl"
	for name, want := range map[string]string{uncommon + ".zst": "has no forks", codexBase + ".zst": "cannot be compared", uncommon: "is the name of two files"} {
		ann, ben := codexHome(t), codexHome(t)
		ann[name], ben[name] = "\x28\xb5\x2f\xfdann", "\x28\xb5\x2f\xfdben"
		if name == uncommon {
			ann[name], ben[name] = codexMeta("01a202d9-0bc4-7c43-8649-aaaaaaaaaaaa"), codexMeta("01a202d9-0bc4-7c43-8649-bbbbbbbbbbbb")
		}
		_, err := Run(t.Context(), all.Registry(), []string{ann.save(t), ben.save(t)}, filepath.Join(t.TempDir(), "out"), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || formats.Hint(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	ann, ben := codexHome(t), codexHome(t)
	const unnamed = "01a202d9-0bc4-7c43-8649-ffffffffffff"
	evil := codexDay + "rollout-2026-11-22T10-41-48-01a202d9-0bc4-7c43-8649-000000000000.jsonl"
	for p, word := range map[*person]string{&ann: "a", &ben: "b"} {
		(*p)[evil] = `{"timestamp":"2026-11-22T11:00:00.000Z","type":"session_meta","payload":{"id":"../../../evil"}}` + "\n" + fmt.Sprintf(codexItem, word)
		(*p)[strings.Replace(evil, "0000.jsonl", "0001.jsonl", 1)] = ""
		(*p)[strings.Replace(evil, "0000.jsonl", "0002.jsonl", 1)] = codexMeta(unnamed) + fmt.Sprintf(codexItem, word)
	}
	res, out := run2(t, ann, ben)
	kept, other := []string{}, 0
	for name, text := range out {
		if other += strings.Count(text, `"id":"`+unnamed); strings.HasPrefix(text, `{"timestamp":"2026-11-22T11:00:00.000Z","type":"session_meta","payload":{"id":"../../../evil"}}`) {
			kept = append(kept, name)
		}
	}
	if len(kept) != 2 || other != 1 || len(res.Sessions) != 9 || !strings.Contains(fmt.Sprint(res.Remarks), ".merge-") || !strings.Contains(fmt.Sprint(res.Remarks), "0001.jsonl: left out") {
		t.Errorf("%q, %d, %d, %q", kept, other, len(res.Sessions), res.Remarks)
	}
}
