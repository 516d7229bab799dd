package all_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestSessionSources takes away each of the three places that the SDK keeps a
// session in, and each two. What is left still is a session, with the prompts
// that it can know, and it says what is missing.
func TestSessionSources(t *testing.T) {
	for seed := range uint64(max(4, *seeds/4)) {
		p := graphgen.New(seed, graphgen.Whole)
		g := p.Graph()
		for _, gone := range [][]string{{"index"}, {"store"}, {"transcript"}, {"index", "store"}, {"index", "transcript"}, {"store", "transcript"}} {
			t.Run(fmt.Sprintf("%d/without %s", seed, strings.Join(gone, " and ")), func(t *testing.T) {
				at := sdkStore(t, p, g, graphgen.Odd{})
				for _, name := range gone {
					path := map[string]string{"index": at.Index, "store": filepath.Dir(at.Store), "transcript": filepath.Dir(at.Transcript)}[name]
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
				}
				got := decodeStore(t, "cursor-sdk", at.Project, session.Selection{})
				sound(t, got, p)
				if len(got.sessions) == 0 {
					t.Fatal("no session")
				}
				s := got.sessions[0]
				if s.ID != p.ID {
					t.Errorf("the session is called %q, not %q", s.ID, p.ID)
				}
				missing := strings.Join(s.Missing, "; ")
				for name, words := range map[string]string{"index": "index.db", "store": "store.db"} {
					if has := strings.Contains(missing, words); has != slices.Contains(gone, name) {
						t.Errorf("missing: %q; without %v", missing, gone)
					}
				}
				in := graphgen.SDK
				if slices.Contains(gone, "index") {
					in = graphgen.Chat // nobody tells of runs that the state never got
				}
				prompts := p.Prompts(in)
				if !slices.Contains(gone, "store") && in == graphgen.SDK { // those that the state never got are behind the others
					sent := p.Prompts(graphgen.Chat)
					prompts = slices.Concat(sent, slices.DeleteFunc(prompts, func(text string) bool { return slices.Contains(sent, text) }))
				}
				if slices.Contains(gone, "store") && slices.Contains(gone, "transcript") {
					prompts = p.Told()
				}
				// Where nothing ties a line of the transcript to a run, that is said.
				said := 0
				for _, n := range got.notes {
					if n.Code == loss.PromptMissing {
						said++
					}
				}
				if absent := promptsAbsent(got.sessions[0].lines, prompts); len(absent) > said {
					t.Errorf("not there, or not in their place: prompts %v of %d; %d said to be missing", absent, len(prompts), said)
				}
			})
		}
	}
}

// promptsAbsent looks for each prompt's own mark, one after the other.
func promptsAbsent(lines, prompts []string) (absent []int) {
	at := 0
	for n, prompt := range prompts {
		mark, _, _ := strings.Cut(prompt, " ")
		i := at
		for i < len(lines) && !(strings.Contains(lines[i], `"role":"user"`) && strings.Contains(lines[i], mark)) {
			i++
		}
		if i == len(lines) {
			absent = append(absent, n+1)
		} else {
			at = i
		}
	}
	return absent
}
