package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// The rules of what a session would lose on its way to another client.
const (
	ruleReshaped   = "RH480"
	ruleInferred   = "RH481"
	ruleMissing    = "RH482"
	ruleDropped    = "RH483"
	ruleUnreadable = "RH484"
	ruleStuck      = "RH485"
)

func lossRules() []string {
	return []string{ruleReshaped, ruleInferred, ruleMissing, ruleDropped, ruleUnreadable, ruleStuck}
}

func lossRule(k loss.Kind) string { return lossRules()[k-loss.Reshaped] }

// lost carries every session of a store to the format of --for, places
// nothing, and reports what would not arrive whole.
func (c *checker) lost(ctx context.Context, one *examined, v formats.View, _ *rule.Pass) error {
	if c.o.For == "" || c.o.For == one.f.Name || one.f.Decode == nil && !one.f.Text || one.tally.broken() {
		return nil
	}
	found := func(f rule.Finding) {
		if c.o.wanted(f.Rule) {
			one.report(f)
		}
	}
	private, err := newFolder("check")
	if err != nil {
		return err
	}
	defer private.Remove()
	rep := &Report{Lane: sessionLane, Source: one.store.Path, DryRun: true, Stores: []StoreReport{}}
	j := &job{
		reg: c.reg, src: one.loc.Path, dst: filepath.Join(private.Path, "sessions"), rep: rep, rename: moveNew, folders: NewFolders(c.reg),
		o:    Options{From: one.f.Name, To: c.o.For, DryRun: true, Allow: loss.Unreadable, Sidecar: "none", Live: v.Live, Jobs: v.Jobs, Say: v.OnNotice},
		talk: talker{say: v.OnNotice},
		noted: func(n loss.Loss) {
			found(rule.Finding{Rule: lossRule(n.Kind()), At: one.within(n.At), Message: "%[1]v", Args: identified(n)})
		},
	}
	err = j.run(ctx)
	if ctx.Err() != nil || errors.Is(err, formats.ErrBusy) || errors.As(err, new(Misuse)) || diskFull(err) {
		return err
	}
	told := false
	for _, s := range rep.Stores {
		for _, x := range s.Sessions {
			if x.Error != nil {
				told = true
				found(rule.Finding{Rule: ruleStuck, At: spoken(x.ID), Message: one.hide(x.Error.Message, private.Path)})
			}
		}
	}
	if err != nil && !told {
		found(rule.Finding{Rule: ruleStuck, Message: one.hide(err.Error(), private.Path)})
	}
	return nil
}

// Messages that have no id of their own are called after the record that they
// came from.
var (
	rowName  = regexp.MustCompile(`^(?:(.+)/)?(\w+)#(\d+)(?: \((.*)\))?$`)
	lineName = regexp.MustCompile(`^(.+):(\d+)(?:-\d+)?$`)
)

// within is a place in the store. Who writes a session knows its messages by
// their ids, and its files by paths of their own.
func (e *examined) within(at store.Addr) store.Addr {
	if at.File == "" || at.Set != "" || at.Line > 0 || e.holdsFile(at.File) {
		return at
	}
	if m := rowName.FindStringSubmatch(at.File); m != nil {
		if id, err := strconv.ParseInt(m[3], 10, 64); err == nil {
			at = store.Addr{File: m[1], Set: m[2], RowID: id, HasID: true}
			if m[4] != "" {
				at.Key = store.TextCell([]byte(m[4]))
			}
			return at
		}
	}
	if m := lineName.FindStringSubmatch(at.File); m != nil && e.holdsFile(m[1]) {
		if n, err := strconv.Atoi(m[2]); err == nil {
			return store.Addr{File: m[1], Line: n}
		}
	}
	return spoken(at.File)
}

// holdsFile reports whether a name is that of a file in the store.
func (e *examined) holdsFile(name string) bool {
	if !e.loc.IsDir() {
		return name == e.loc.Name()
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	_, err := os.Lstat(filepath.Join(e.loc.Path, filepath.FromSlash(name)))
	return err == nil
}

// spoken is a place in what was said, not in a store.
func spoken(id string) store.Addr {
	return store.Addr{Set: "conversation", Key: store.TextCell([]byte(id))}
}

// hide takes the folders out of what is said: that of scratch has another name
// each time, and the store's own is told with it.
func (e *examined) hide(says, scratch string) string {
	says = strings.ReplaceAll(says, scratch+string(filepath.Separator), "")
	return strings.ReplaceAll(says, e.loc.Path, e.loc.Name())
}

// broken reports whether the files themselves are: nothing that follows from
// that is worth telling.
func (t *checkTally) broken() bool { return t.any(rule.Container) }

// wrong reports whether there is any error.
func (t *checkTally) wrong() bool { return t.any(^rule.Layers(0)) }

func (t *checkTally) any(of rule.Layers) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.rules {
		if b.Rule.Severity == rule.Error && of.Has(b.Rule.Layer) {
			return true
		}
	}
	return false
}

// identified are the words of a loss, and behind them what it is known again by.
func identified(n loss.Loss) []any {
	args := []any{rule.Words(n.What()), string(n.Code)}
	for _, a := range n.Args {
		args = append(args, a)
	}
	return args
}
