package check

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/convert"
	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// checkSidecar checks whether the sidecars of a store and of its parts can be applied,
// for text by restoring the store to a temporary folder.
func (c *checker) checkSidecar(ctx context.Context, one *storeCheck, v formats.View, q *rule.Pass) error {
	if !q.Enabled(rule.References) || one.f.Records == nil {
		return nil
	}
	name, err := sidecar.PathOf(one.loc.Path)
	at := store.Addr{File: "../" + filepath.Base(name)}
	if err != nil {
		at.File += formats.SidecarSuffix
		q.Reportf("RH389", at, innermostMessage(err))
		return nil
	}
	files := map[string]store.Addr{name: at}
	if one.f.Records.Parts != nil {
		for _, part := range one.f.Records.Parts(one.loc) {
			files[filepath.Join(one.loc.Path, part, formats.PartSidecar)] = store.Addr{File: path.Join(part, formats.PartSidecar)}
		}
	}
	some, damaged := false, false
	for name, at := range files {
		f, err := sidecar.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			_, err = sidecar.Read(f, "")
			f.Close()
		}
		if some = true; err != nil {
			damaged = true
			q.Reportf("RH389", at, strings.TrimPrefix(err.Error(), ":"))
		}
	}
	if _, err := os.Lstat(name); err != nil {
		at.File = formats.PartSidecar
	}
	if !some || damaged || !one.f.Text || one.f.Records.Kinds[0].Name == formats.Tables || one.size > maxRestoredSize || one.findings.hasErrors() {
		return nil
	}
	private, err := stage.NewTemp("check")
	if err != nil {
		return err
	}
	defer private.Remove()
	rep, err := convert.Convert(ctx, c.reg, one.loc.Path, filepath.Join(private.Path, "store"), convert.Options{From: one.f.Name, DryRun: true, Allow: loss.Unreadable, Live: v.Live, Jobs: v.Jobs})
	if ctx.Err() != nil || errors.Is(err, formats.ErrBusy) || stage.DiskFull(err) {
		return err
	}
	if err != nil {
		q.Reportf("RH387", store.Addr{}, one.hidePaths(innermostMessage(err), private.Path))
	}
	for _, s := range rep.Stores {
		for _, l := range s.Losses {
			if l.Code.Stale() {
				q.Reportf("RH343", at, "%s: %s", rule.Words(l.What), strings.Join(l.Places, ", "))
			}
		}
	}
	return nil
}
