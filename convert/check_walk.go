package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"

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

	// Unrecognized is the rule of files that look like a session, and that no
	// format recognizes.
	Unrecognized = "RH194"
)

func walkRules() []string {
	return []string{ruleMisfit, ruleFolder, ruleLink, ruleDevice, Unrecognized}
}

// find looks for stores below a path.
func (c *checker) find(ctx context.Context, place string) {
	walk := &examined{walk: true, store: CheckedStore{Path: place}}
	walk.tally.known = c.o.Baseline.of(place)
	c.found = append(c.found, walk)
	misfit := false
	passed := func(rel string, why passing) {
		id := why.rule(filepath.Join(place, filepath.FromSlash(rel)))
		if id == "" || !c.o.wanted(id) || (id == ruleMisfit || id == Unrecognized) && c.o.From != "" {
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
		if errors.Is(err, formats.ErrUnknown) && found.Rel == "" && c.o.From == "" && isFolder(place) {
			if c.mayBeEmpty(place) {
				walk.tally.say(noSessions)
				break
			}
			err = &formats.Error{At: place, Err: errors.New(noSessions), Hint: "pass the folder that holds them; `rehome detect PATH` identifies a file or folder"}
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

// noSessions is said of a folder in which no store was found.
const noSessions = "no sessions found"

// mayBeEmpty reports whether nobody said that there are sessions in a folder: an
// ordinary repository need not hold any.
func (c *checker) mayBeEmpty(place string) bool {
	return !c.o.Require && filepath.Clean(place) == "."
}

func isFolder(place string) bool {
	info, err := os.Stat(place)
	return err == nil && info.IsDir()
}

// findBeside looks into a folder that a client keeps within a store of another
// format, see formats.Format.ExternalDir.
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

// rule is what there is to say of a place that a walk goes past, "" if nothing.
func (why passing) rule(place string) string {
	switch {
	case why == folderLink:
		return ruleFolder
	case why == sessionish:
		return Unrecognized
	case why == misfit:
		return ruleMisfit
	case why == deadLink && storeName(place):
		return ruleLink
	case why == noFile && storeName(place):
		return ruleDevice
	}
	return ""
}
