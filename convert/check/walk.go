package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"rehome/convert"
	"rehome/convert/internal/ignore"
	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// The rules about what a walk finds beside stores.
const (
	ruleMisfit = "RH190"
	ruleFolder = "RH191"
	ruleLink   = "RH192"
	ruleDevice = "RH193"
	ruleMerge  = "RH195"

	// Unrecognized is the rule for files that look like a session, but that no
	// format recognizes.
	Unrecognized = "RH194"
)

func walkRules() []string {
	return []string{ruleMisfit, ruleFolder, ruleLink, ruleDevice, Unrecognized}
}

// find looks for stores below a path.
func (c *checker) find(ctx context.Context, place string, tree *ignore.Tree) {
	below := &storeCheck{pathOnly: true, store: Store{Path: place}}
	below.findings.known = c.o.Baseline.known(place)
	c.found = append(c.found, below)
	misfit := false
	skipped := func(it walk.Item) {
		rel, id := it.Rel, c.skipRule(it.Why, filepath.Join(place, filepath.FromSlash(it.Rel)))
		if id == "" || !c.o.wanted(id) || (id == ruleMisfit || id == Unrecognized) && c.o.From != "" {
			return
		}
		misfit = misfit || id == ruleMisfit
		if rel == "." {
			rel = ""
		}
		below.findings.add(rule.Finding{Rule: id, At: store.Addr{File: rel}})
	}
	for found, err := range walk.Stores(ctx, c.reg, place, c.reg.Lookup(c.o.From), tree.Skip, skipped) {
		if errors.Is(err, formats.ErrUnknown) && misfit {
			break // the finding says what it looks like
		}
		if errors.Is(err, formats.ErrUnknown) && found.Rel == "" && isFolder(place) {
			if len(c.o.Paths) > 0 {
				below.noSessions(c.o.Require)
			}
			break
		}
		at := place
		if found.Rel != "" && found.Rel != "." {
			at = filepath.Join(place, filepath.FromSlash(found.Rel))
		}
		c.addStore(at, found, err, c.o.Sessions[at])
		if err == nil {
			c.findOutside(ctx, at, found)
		}
	}
	if err := tree.Err(); err != nil {
		below.findings.say(err.Error() + ": not obeyed")
	}
}

// NoSessions is the remark about a folder without stores.
const NoSessions = "no sessions found"

// noSessions says that there are no stores at a path, which is an error if they are
// required.
func (e *storeCheck) noSessions(required bool) {
	if required {
		e.store.Err = &formats.Error{At: e.store.Path, Err: errors.New(NoSessions), Hint: "pass the folder that holds them, or omit --require"}
	} else {
		e.findings.say(NoSessions)
	}
}

func isFolder(place string) bool {
	info, err := os.Stat(place)
	return err == nil && info.IsDir()
}

// findOutside checks a folder that a client keeps within a store of another
// format, see formats.Format.Outside.
func (c *checker) findOutside(ctx context.Context, at string, found convert.Found) {
	beside := walk.Nested(found)
	if beside == nil {
		return
	}
	for f, err := range convert.Stores(ctx, c.reg, beside.Path, "", nil) {
		if !errors.Is(err, formats.ErrUnknown) {
			c.addStore(filepath.Join(at, beside.Name(), filepath.FromSlash(f.Rel)), f, err, c.o.Sessions[at])
		}
	}
}

// addStore adds a store, or some of its sessions, to those to check.
func (c *checker) addStore(at string, found convert.Found, err error, sessions []string) {
	one := &storeCheck{store: Store{Path: at, Err: err}, sessions: sessions}
	if err == nil {
		real := walk.ResolvedPath(found.Loc.Path)
		if c.seen[real] {
			return
		}
		c.seen[real] = true
		one.loc, one.f = found.Loc, found.Detected[0].Format
		one.store.Format, one.store.Family = one.f.Name, one.f.Family
		one.size = walk.Size(one.loc)
	}
	c.found = append(c.found, one)
}

// skipRule returns the rule for a skipped path, or "" if there is none.
func (c *checker) skipRule(why walk.Reason, place string) string {
	switch {
	case why == walk.FolderLink:
		return ruleFolder
	case why == walk.SessionLike:
		return Unrecognized
	case why == walk.Misnamed:
		return ruleMisfit
	case why == walk.DeadLink && walk.IsStoreName(c.reg, place):
		return ruleLink
	case why == walk.SpecialFile && walk.IsStoreName(c.reg, place):
		return ruleDevice
	}
	return ""
}
