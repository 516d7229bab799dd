package all_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestForgedText: whatever others write into text and its sidecar, what is restored from it
// says what the text says, or nothing is restored, or a loss names what a store cannot hold
// of a line. People review the text, and the client sends what is restored.
func TestForgedText(t *testing.T) {
	const forgeries = 1000
	bases := forgedBases(t)
	dir := t.TempDir()
	var next atomic.Int64
	var lock sync.Mutex
	kinds := map[string]*[forgedOutcomes]int{}
	var workers sync.WaitGroup
	for range 4 { // which wait for the disk, too
		workers.Go(func() {
			for n := next.Add(1); n <= forgeries; n = next.Add(1) {
				at := filepath.Join(dir, fmt.Sprint(n))
				f := bases[n%int64(len(bases))]
				what := f.forge(t, rand.New(rand.NewPCG(35, uint64(n))), filepath.Join(at, "text"))
				outcome, said := f.restore(t, filepath.Join(at, "text"), filepath.Join(at, "store"))
				lock.Lock()
				if kinds[what] == nil {
					kinds[what] = new([forgedOutcomes]int)
				}
				if kinds[what][outcome]++; outcome == forgedWrong {
					t.Errorf("%d: %s: the store says something else than the text\n%s", n, what, said)
				}
				lock.Unlock()
				os.RemoveAll(at)
			}
		})
	}
	workers.Wait()
	var all [forgedOutcomes]int
	for what, n := range kinds {
		t.Logf("%s: %d refused, %d without effect, %d reported", what, n[forgedRefused], n[forgedSame], n[forgedReported])
		for i := range n {
			all[i] += n[i]
		}
	}
	if all[forgedRefused] < forgeries/10 || all[forgedSame] < forgeries/10 || all[forgedReported] > forgeries/10 {
		t.Errorf("the forgeries are nearly all of one kind: %v", all)
	}
}

// The outcomes of restoring forged text.
const (
	forgedRefused = iota
	forgedSame
	forgedReported // a loss names the line that the store cannot hold
	forgedWrong
	forgedOutcomes
)

// forgedBases returns text of small stores: in folders of agents, and in one folder with a
// sidecar beside it; with states that the lines name, and with states that only the rows of
// meta name.
func forgedBases(t *testing.T) (out []forger) {
	legacy := filepath.Join("..", "..", "testdata", "sdk", "legacy-1.0.14")
	bases := []*sdkForger{newSDKForger(t, legacy, false), newSDKForger(t, legacy, true)}
	p := graphgen.New(5, graphgen.Whole)
	bases = append(bases, newSDKForger(t, sdkStore(t, p, p.Graph(), graphgen.Odd{}).Project, false))
	for i := range len(bases) {
		silent := *bases[i]
		silent.files = maps.Clone(silent.files)
		for name, lines := range silent.files {
			if name != sidecarName {
				silent.files[name] = slices.Clone(lines)
				for j := range lines {
					silent.files[name][j] = checkpointPattern.ReplaceAllString(lines[j], `"$1":null`)
				}
			}
		}
		bases = append(bases, &silent)
	}
	for _, b := range bases {
		out = append(out, b)
	}
	return append(out, newArchiveForger(t, legacy, "cursor-sdk", bases[0]), newArchiveForger(t, filepath.Join("..", "..", "testdata", "chat", "before.db"), "cursor-chat", bases[0]))
}

var checkpointPattern = regexp.MustCompile(`"(latestCheckpoint(?:Ref)?)":\{[^}]*\}`)

// forger forges one text.
type forger interface {
	forge(t *testing.T, r *rand.Rand, dir string) (what string)
	restore(t *testing.T, text, out string) (outcome int, said string)
}

// restore restores text, and compares what the two say.
func (f *sdkForger) restore(t *testing.T, text, out string) (outcome int, said string) {
	t.Helper()
	rep, err := convert.Convert(t.Context(), all.Registry(), text, out, convert.Options{From: "cursor-ndjson", To: "cursor-sdk", Jobs: 1})
	if err != nil || !rep.Placed {
		return forgedRefused, ""
	}
	silent := map[string]bool{}
	want := told(t, "cursor-ndjson", text, silent)
	got := told(t, "cursor-sdk", out, silent)
	if slices.Equal(want, got) {
		return forgedSame, ""
	}
	for _, g := range rep.Stores[0].Losses {
		switch g.Code {
		case loss.LineNotRow, loss.LineRefused, loss.LineExceedsRow, loss.RunRenumbered:
			return forgedReported, ""
		}
	}
	return forgedWrong, firstOther(want, got)
}

// told returns what the sessions in a store say, in the order of their ids. Sessions of which
// the text gives no title have one in a database, as every session there.
func told(t *testing.T, format, path string, silent map[string]bool) (out []string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range all.Registry().Lookup(format).Sessions.Decode(t.Context(), l, formats.FullView(1), session.Selection{History: true, Inner: true}) {
		if err != nil {
			out = append(out, "unreadable")
			continue
		}
		head := session.Session{Head: session.Head{ID: s.ID, Workspace: s.Workspace, Parent: s.Parent}, Mode: s.Mode, Todos: s.Todos, Plan: s.Plan, Children: s.Children, Branches: s.Branches}
		if head.Title = s.Title; format == "cursor-ndjson" {
			silent[s.ID] = s.Title == ""
		} else if silent[s.ID] {
			head.Title = ""
		}
		out = append(out, s.ID+" "+string(session.AppendHead(nil, &head)))
		for m, err := range s.Messages {
			if err != nil {
				out = append(out, "unreadable")
				break
			}
			if m.Turn != nil {
				m.Turn.Status = "" // a table has one for each run, a line need not
			}
			out = append(out, s.ID+" "+normalMessage(m))
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		a, _, _ = strings.Cut(a, " ")
		b, _, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return out
}

func firstOther(want, got []string) string {
	for i := range max(len(want), len(got)) {
		var a, b string
		if i < len(want) {
			a = want[i]
		}
		if i < len(got) {
			b = got[i]
		}
		if a != b {
			return fmt.Sprintf("text  %.4000s\nstore %.4000s", a, b)
		}
	}
	return ""
}
