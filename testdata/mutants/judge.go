package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// judgeCodecs makes mistakes in codecs and reports those that their suite does not find.
func judgeCodecs(ctx context.Context, dir string, packages map[string]*pkg, sites map[string][]mutant, o options) error {
	known, err := readSurvivors(sites)
	if err != nil {
		return err
	}
	changes, err := drawCodecs(ctx, packages, sites, known, o)
	if err != nil || o.dry {
		return err
	}
	began := time.Now()
	s, err := newSuite(ctx, dir, packages, changes)
	if err != nil {
		return err
	}
	fmt.Printf("compiled %d changes in %v\n", len(changes), time.Since(began).Round(time.Second))
	t := tally{known: known}
	var wait sync.WaitGroup
	var numbers = make(chan int)
	for range o.workers {
		wait.Go(func() {
			for n := range numbers {
				began := time.Now()
				v, err := s.judge(ctx, n, changes[n])
				t.add(n, changes[n], v, err, time.Since(began))
			}
		})
	}
	for _, n := range slices.Sorted(maps.Keys(changes)) {
		numbers <- n
	}
	close(numbers)
	wait.Wait()
	seconds := time.Since(began).Seconds() / float64(max(1, len(changes)))
	fmt.Printf("%d found, %d survived, %d change nothing; %.1f seconds each\n", t.found, t.survived, t.argued, seconds)
	switch {
	case t.err != nil:
		return t.err
	case o.update:
		return known.write()
	case t.found*100 < o.least*(t.found+t.survived):
		return fmt.Errorf("fewer than %d %% were found", o.least)
	}
	return nil
}

// drawCodecs returns changes that the compiler accepts, by their numbers in the draw.
func drawCodecs(
	ctx context.Context, packages map[string]*pkg, sites map[string][]mutant, known *survivors, o options,
) (map[int]mutant, error) {
	check, err := newChecker(ctx, packages)
	if err != nil {
		return nil, err
	}
	if o.judged {
		for kind, list := range sites {
			sites[kind] = slices.DeleteFunc(list, func(m mutant) bool { return !known.isJudged(m) || !o.update && known.why[m.key()] != "" })
		}
	}
	out := map[int]mutant{}
	number, good := 0, 0
	for m := range draw(sites, o.seed) {
		if good == o.n {
			break
		}
		number++
		ok, err := check.accepts(m)
		if err != nil {
			return nil, err
		}
		if !ok { // nobody would make this mistake
			continue
		}
		good++
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), strconv.Itoa(number)) {
			continue
		}
		out[number] = m
		if o.dry {
			fmt.Printf("%d\t%s\n", number, m)
		}
	}
	return out, nil
}

// tally counts what became of changes.
type tally struct {
	mu                      sync.Mutex
	known                   *survivors
	found, survived, argued int
	err                     error
}

// verdict is what became of a change.
type verdict struct {
	by  string // the trial that fails, if any
	met bool   // some trial runs the code that is changed
}

func (t *tally) add(n int, m mutant, v verdict, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := m.key()
	word, why := v.by, t.known.why[k]
	switch {
	case err != nil:
		t.err = cmp.Or(t.err, err)
		return
	case v.by != "":
		t.found++
		if why != "" && why != stillOpen {
			t.err = cmp.Or(t.err, fmt.Errorf("%s finds what %s says changes nothing: %v", v.by, survivorsFile, m))
		}
		delete(t.known.why, k)
	case why != "" && why != stillOpen:
		t.argued++
		word = "changes nothing: " + why
	default:
		t.survived++
		t.known.why[k] = stillOpen
		if word = "SURVIVED"; !v.met {
			word += ": no test runs it"
		}
	}
	fmt.Printf("%d\t%s\t%s\t%.1fs\n", n, word, m, took.Seconds())
}
