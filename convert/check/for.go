package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"rehome/convert"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// The rules about what a session would lose in another client.
const (
	ruleReshaped   = "RH480"
	ruleInferred   = "RH481"
	ruleMissing    = "RH482"
	ruleDropped    = "RH483"
	ruleUnreadable = "RH484"
	ruleFailed     = "RH485"
)

func lossRules() []string {
	return []string{ruleReshaped, ruleInferred, ruleMissing, ruleDropped, ruleUnreadable, ruleFailed}
}

func lossRule(k loss.Kind) string { return lossRules()[k-loss.Reshaped] }

// checkLosses converts every session of a store to the format of --for in a
// temporary folder, and reports the losses.
func (c *checker) checkLosses(ctx context.Context, one *storeCheck, v formats.View, _ *rule.Pass) error {
	if c.o.For == "" || c.o.For == one.f.Name || one.f.Sessions == nil && !one.f.Text || one.findings.containerBroken() {
		return nil
	}
	found := func(f rule.Finding) {
		if c.o.wanted(f.Rule) {
			if len(one.sessions) > 0 { // the others are not converted
				f.Session = one.sessions[0]
			}
			one.report(f)
		}
	}
	private, err := stage.NewTemp("check")
	if err != nil {
		return err
	}
	defer private.Remove()
	rep, err := convert.Convert(ctx, c.reg, one.loc.Path, filepath.Join(private.Path, "sessions"), convert.Options{
		From: one.f.Name, To: c.o.For, Sessions: one.sessions, BySession: true, DryRun: true, Allow: loss.Unreadable, Sidecar: "none", Live: v.Live, Jobs: v.Jobs, OnNotice: v.OnNotice,
		OnLoss: func(n loss.Loss) {
			found(rule.Finding{Rule: lossRule(n.Kind()), At: one.storeAddr(n.At), Message: "%[1]v", Args: lossArgs(n)})
		},
	})
	if ctx.Err() != nil || errors.Is(err, formats.ErrBusy) || errors.As(err, new(convert.Misuse)) || stage.DiskFull(err) {
		return err
	}
	reported := false
	for _, s := range rep.Stores {
		for _, x := range s.Sessions {
			if x.Error != nil {
				reported = true
				found(rule.Finding{Rule: ruleFailed, At: conversationAddr(x.ID), Message: one.hidePaths(x.Error.Message, private.Path)})
			}
		}
	}
	if err != nil && !reported {
		found(rule.Finding{Rule: ruleFailed, Message: one.hidePaths(err.Error(), private.Path)})
	}
	return nil
}

// Messages without an id of their own are named after the record they came
// from.
var (
	rowName  = regexp.MustCompile(`^(?:(.+)/)?(\w+)#(\d+)(?: \((.*)\))?$`)
	lineName = regexp.MustCompile(`^(.+):(\d+)(?:-\d+)?$`)
)

// storeAddr returns an address in the store. Encoders name messages by their
// ids, and files by paths of their own.
func (e *storeCheck) storeAddr(at store.Addr) store.Addr {
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
	return conversationAddr(at.File)
}

// holdsFile reports whether name is a file of the store.
func (e *storeCheck) holdsFile(name string) bool {
	if !e.loc.IsDir() {
		return name == e.loc.Name()
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	_, err := os.Lstat(filepath.Join(e.loc.Path, filepath.FromSlash(name)))
	return err == nil
}

// conversationAddr returns an address in the conversation instead of the store.
func conversationAddr(id string) store.Addr {
	return store.Addr{Set: "conversation", Key: store.TextCell([]byte(id))}
}

// hidePaths removes folders from a message: the temporary one differs from run
// to run, and the store's own is reported anyway.
func (e *storeCheck) hidePaths(says, scratch string) string {
	says = strings.ReplaceAll(says, scratch+string(filepath.Separator), "")
	return strings.ReplaceAll(says, e.loc.Path, e.loc.Name())
}

// containerBroken reports whether the files themselves have errors. Everything
// that follows from those is noise.
func (t *findingSet) containerBroken() bool { return t.hasErrorsIn(rule.Container) }

// hasErrors reports whether there is a finding of severity error.
func (t *findingSet) hasErrors() bool { return t.hasErrorsIn(^rule.Layers(0)) }

func (t *findingSet) hasErrorsIn(of rule.Layers) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.rules {
		if b.Rule.Severity == rule.Error && of.Has(b.Rule.Layer) {
			return true
		}
	}
	return false
}

// lossArgs returns the arguments of a finding about a loss: its wording, then
// the code and arguments that identify it.
func lossArgs(n loss.Loss) []any {
	args := []any{rule.Words(n.What()), string(n.Code)}
	for _, a := range n.Args {
		args = append(args, a)
	}
	return args
}
