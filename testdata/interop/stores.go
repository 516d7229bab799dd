// Command interop makes the stores that `make interop` has migrated: many small
// sessions at random, in every kind of store that a generator knows. With them
// goes a list of where they are.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/formatstest/streamgen"
)

// made is a store: its kind, and where it lies.
type made struct {
	Kind string `json:"kind"`
	At   string `json:"at"`
}

// main takes a folder and how many sessions of each kind it shall hold.
func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "stores:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a folder and a number, got %d words", len(args))
	}
	dir := args[0]
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var list []made
	for seed := range count {
		for kind, write := range map[string]func(string, uint64) (string, error){"chat": chat, "sdk": agent, "lines": lines} {
			at, err := write(filepath.Join(dir, kind, strconv.Itoa(seed)), uint64(seed))
			if err != nil {
				return fmt.Errorf("%s %d: %w", kind, seed, err)
			}
			list = append(list, made{kind, at})
		}
	}
	at := filepath.Join(dir, "ide")
	if err := idegen.New(uint64(count), count).Write(context.Background(), at); err != nil {
		return fmt.Errorf("ide: %w", err)
	}
	streams, err := captures(filepath.Join(dir, "stream"), count/4)
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	list = append(append(list, made{"ide", at}), streams...)
	return json.NewEncoder(os.Stdout).Encode(list)
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
