package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/formatstest/streamgen"
)

// made is a store: its kind, and where it lies.
type made struct {
	Kind string `json:"kind"`
	At   string `json:"at"`
}

// stores makes so many sessions of each kind below a folder.
func stores(dir string, count int) (list []made, err error) {
	for seed := range count {
		for _, k := range []struct {
			kind  string
			write func(string, uint64) (string, error)
		}{{"chat", chat}, {"sdk", agent}, {"lines", lines}} {
			at, err := k.write(filepath.Join(dir, k.kind, strconv.Itoa(seed)), uint64(seed))
			if err != nil {
				return nil, fmt.Errorf("%s %d: %w", k.kind, seed, err)
			}
			list = append(list, made{k.kind, at})
		}
	}
	for _, k := range []struct {
		kind  string
		write func(string, int) ([]made, error)
	}{{"stream", captures}, {"transcript", transcripts}, {"text", texts}} {
		more, err := k.write(filepath.Join(dir, k.kind), count/4)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.kind, err)
		}
		list = append(list, more...)
	}
	more, err := claudes(filepath.Join(dir, "claude"), count)
	if err != nil {
		return nil, fmt.Errorf("claude: %w", err)
	}
	list = append(list, more...)
	at := filepath.Join(dir, "ide")
	if err := idegen.New(uint64(count), count).Write(context.Background(), at); err != nil {
		return nil, fmt.Errorf("ide: %w", err)
	}
	return append(list, made{"ide", at}), nil
}

// plan takes the shapes of state in turn.
func plan(seed uint64) *graphgen.Plan {
	return graphgen.New(seed, graphgen.Shape(seed%uint64(graphgen.Shapes)))
}

func chat(dir string, seed uint64) (string, error) {
	p := plan(seed)
	at, err := p.WriteChat(context.Background(), dir, p.Graph(), graphgen.Odd{})
	return filepath.Join(at, "store.db"), err
}

func agent(dir string, seed uint64) (string, error) {
	p := graphgen.New(seed+1000, graphgen.Whole)
	at, err := p.WriteSDK(context.Background(), dir, p.Graph(), graphgen.Odd{})
	return at.Root, err
}

func lines(dir string, seed uint64) (string, error) {
	p := graphgen.New(seed+2000, graphgen.Whole)
	return dir, p.WriteLines(dir, p.Graph())
}

func captures(dir string, count int) (out []made, err error) {
	rng := rand.New(rand.NewPCG(7, 7))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range count {
		for n, text := range streamgen.Runs(rng, streamgen.Make(rng, i+1), streamgen.Style{}) {
			if n > 0 {
				break // the later runs are captures of their own
			}
			at := filepath.Join(dir, strconv.Itoa(i)+".jsonl")
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				return nil, err
			}
			out = append(out, made{"stream", at})
		}
	}
	return out, nil
}

// transcripts are those that lie beside stores of the SDK, without them.
func transcripts(dir string, count int) (out []made, err error) {
	for i := range count {
		p := graphgen.New(uint64(i)+3000, graphgen.Whole)
		at, err := p.WriteSDK(context.Background(), filepath.Join(dir, strconv.Itoa(i)), p.Graph(), graphgen.Odd{})
		if err != nil {
			return nil, err
		}
		out = append(out, made{"transcript", at.Transcript})
	}
	return out, nil
}

// texts are transcripts as clients wrote them in 2025. Each text has a mark of
// its own, as in the other generators.
func texts(dir string, count int) (out []made, err error) {
	rng := rand.New(rand.NewPCG(8, 8))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range count {
		at := filepath.Join(dir, fmt.Sprintf("7e870000-0000-4000-8000-%012d.txt", i))
		if err := os.WriteFile(at, []byte(oldText(rng)), 0o644); err != nil {
			return nil, err
		}
		out = append(out, made{"text", at})
	}
	return out, nil
}

func oldText(rng *rand.Rand) string {
	var b strings.Builder
	marks := 0
	words := func() string {
		marks++
		all := []string{"über", "テスト", "\"quoted\" \\", "two\nlines", "<b>&amp;</b>", "👩‍👩‍👧‍👦"}
		return fmt.Sprintf("tk%dx %s.", marks, all[rng.IntN(len(all))])
	}
	for range 1 + rng.IntN(4) {
		fmt.Fprintf(&b, "user:\n<user_query>\n%s\n</user_query>\n\n", words())
		for range rng.IntN(3) {
			b.WriteString("assistant:\n")
			if rng.IntN(2) == 0 {
				b.WriteString("[Thinking] " + words() + "\n")
			} else {
				b.WriteString(words() + "\n")
			}
			tools := []string{"Read", "Grep", "Shell"}[:1+rng.IntN(3)]
			for _, tool := range tools {
				fmt.Fprintf(&b, "[Tool call] %s\n  path: /work/%d\n", tool, rng.Uint32())
			}
			for _, n := range rng.Perm(len(tools)) {
				fmt.Fprintf(&b, "[Tool result] %s\n%s\n", tools[n], words())
			}
		}
		fmt.Fprintf(&b, "assistant:\n%s\n\nTurn ended: success\n\n", words())
	}
	return b.String()
}
