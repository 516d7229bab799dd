package convert

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// The rules that are the walk's own: of what lies where stores are looked for,
// and is none.
const (
	ruleMisfit = "RH190"
	ruleFolder = "RH191"
	ruleLink   = "RH192"
	ruleDevice = "RH193"
)

func walkRules() []string { return []string{ruleMisfit, ruleFolder, ruleLink, ruleDevice} }

// find looks for stores below a path.
func (c *checker) find(ctx context.Context, place string) {
	walk := &examined{walk: true, store: CheckedStore{Path: place}}
	walk.tally.known = c.o.Baseline.of(place)
	c.found = append(c.found, walk)
	misfit := false
	passed := func(rel string, why passing) {
		id := why.rule(filepath.Join(place, filepath.FromSlash(rel)))
		if id == "" || !c.o.wanted(id) || id == ruleMisfit && c.o.From != "" {
			return
		}
		misfit = misfit || id == ruleMisfit
		if rel == "." {
			rel = ""
		}
		walk.tally.add(rule.Finding{Rule: id, At: store.Addr{File: rel}})
	}
	for found, err := range storesPassing(ctx, c.reg, place, c.o.From, passed) {
		if errors.Is(err, formats.ErrUnknown) && misfit {
			break // what it looks like has been said
		}
		at := place
		if found.Rel != "" && found.Rel != "." {
			at = filepath.Join(place, filepath.FromSlash(found.Rel))
		}
		c.enter(at, found, err)
		if err == nil {
			c.findBeside(ctx, at, found)
		}
	}
}

// findBeside looks into a folder that a client keeps within a store of another
// format, see formats.Format.Outside.
func (c *checker) findBeside(ctx context.Context, at string, found Found) {
	beside := besideStore(found.Loc, found.Detected[0].Format)
	if beside == nil {
		return
	}
	for f, err := range Stores(ctx, c.reg, beside.Path, "") {
		if !errors.Is(err, formats.ErrUnknown) {
			c.enter(filepath.Join(at, beside.Name(), filepath.FromSlash(f.Rel)), f, err)
		}
	}
}

// enter puts a store on the list of those that are asked.
func (c *checker) enter(at string, found Found, err error) {
	one := &examined{store: CheckedStore{Path: at, Err: err}}
	if err == nil {
		real := cleaned(found.Loc.Path)
		if c.seen[real] {
			return
		}
		c.seen[real] = true
		one.loc, one.f = found.Loc, found.Detected[0].Format
		one.store.Format = one.f.Name
		one.size = sizeOf(one.loc)
	}
	c.found = append(c.found, one)
}

// passing is why a walk goes past a place.
type passing uint8

const (
	unclaimed  passing = iota // a file that no format recognises
	folderLink                // a link to a folder
	deadLink                  // a link that leads nowhere, or in a circle
	noFile                    // a pipe, socket or device
)

// rule is what there is to say of it, "" if nothing.
func (why passing) rule(place string) string {
	if why == folderLink {
		return ruleFolder
	}
	if abs, err := filepath.Abs(place); err == nil {
		place = abs
	}
	if !storeName(place) {
		return ""
	}
	switch why {
	case deadLink:
		return ruleLink
	case noFile:
		return ruleDevice
	}
	if l, err := formats.Locate(place); err != nil || len(l.Head()) == 0 {
		return "" // nothing has been written to it yet
	}
	return ruleMisfit
}

var uuidLines = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\.jsonl$`)

// storeName reports a name that only clients' stores have, where it lies.
func storeName(place string) bool {
	place = filepath.ToSlash(place)
	name := path.Base(place)
	switch {
	case slices.Contains([]string{"store.db", "state.vscdb", "agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"}, name):
		return true
	case name == "index.db":
		l, err := formats.Locate(filepath.FromSlash(path.Dir(place)))
		return err == nil && l.Has("agents")
	case uuidLines.MatchString(name):
		above := strings.Split(path.Dir(place), "/")
		return slices.Contains(above, "agent-transcripts") || len(above) > 1 && above[len(above)-2] == "projects"
	}
	return false
}
