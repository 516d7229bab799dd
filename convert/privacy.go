package convert

import (
	"io/fs"
	"os"
	"path/filepath"

	"rehome/convert/internal/stage"
)

// restrictPermissions gives everything that is staged the permissions of the
// stores it was made from. What stands for several stores has the permissions
// of the most open one if it only leads to them, and of the most private one if
// it holds their content. It returns the permissions that some store does not have.
func (j *job) restrictPermissions() (denied fs.FileMode, err error) {
	every := stage.GroupAndOthers
	off := make([]fs.FileMode, len(j.found))
	for i, f := range j.found {
		if s := j.rep.Stores[i].Status; f.Loc == nil || s != Placed && s != Checked && len(j.stagedSessions[i]) == 0 {
			continue
		}
		off[i] = stage.DeniedBy(f.Loc.Path)
		every, denied = every&off[i], denied|off[i]
	}
	goal := j.stage.StorePath(j.dest, ".")
	if j.update != nil { // every store may have been skipped
		if err := os.MkdirAll(filepath.Dir(goal), 0o777); err != nil {
			return 0, err
		}
	}
	info, err := os.Lstat(goal)
	if err != nil && j.update == nil {
		return 0, err
	}
	if err == nil && !info.IsDir() || len(j.found) == 1 || j.joins() {
		every = denied
	}
	if err := stage.Deny(j.stage.Tree, every); err != nil {
		return 0, err
	}
	for i := range j.found {
		for _, path := range j.stagedPaths(i) {
			if err := stage.Deny(path, off[i]); err != nil {
				return 0, err
			}
		}
	}
	return denied, nil
}

// stagedPaths returns the staged files and folders that were made from one
// store alone.
func (j *job) stagedPaths(i int) (out []string) {
	rep := &j.rep.Stores[i]
	if j.rep.Lane != SessionConversion {
		if rep.Status == Placed && !rep.skipped {
			out = append(out, j.storePath(rep))
		}
		return out
	}
	for _, f := range j.stagedSessions[i] {
		if name := rep.Sessions[f.report].File; name != "" {
			path := filepath.Join(j.stage.StorePath(j.dest, "."), filepath.FromSlash(name))
			if out = append(out, path); f.Draft.Companion != "" {
				out = append(out, companionPath(path, f.Draft.Companion))
			}
		}
	}
	return out
}
