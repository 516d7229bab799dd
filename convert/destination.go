package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"rehome/convert/internal/stage"
	"rehome/formats"
)

// destination finds the target if the user names none: the place where the
// client looks for the sessions of a program that runs in Cwd. There is one
// such place, so the source must be one store.
func (j *job) destination(ctx context.Context) error {
	if j.dst != "" || j.opts.Cwd == "" {
		return nil
	}
	f, err := j.onlyStore(ctx)
	if err != nil {
		return err
	}
	to, err := j.chooseTarget(ctx, f.Detected[0].Format, f.Loc)
	if err != nil {
		return err
	}
	if to.Home == nil || to.Home.Store == nil {
		return &formats.Error{At: to.Name, Err: errors.New("no default location for stores of this format"), Hint: "pass a DST; you can combine it with --cwd"}
	}
	j.dst, j.clientPlace = to.Home.Store(j.opts.Home, j.opts.Cwd), true
	j.rep.Target = j.dst
	j.outside, err = newOutsideFolder(j, to)
	return err
}

// onlyStore returns the store that the source itself is.
func (j *job) onlyStore(ctx context.Context) (Found, error) {
	for f, err := range Stores(ctx, j.reg, j.src, j.opts.From, nil) {
		if err != nil || f.Rel == "." {
			return f, err
		}
		return f, &formats.Error{At: j.src, Err: errors.New("a folder of stores, but --cwd without DST takes a single store"),
			Hint: "pass one of them as SRC, such as " + filepath.Join(j.src, filepath.FromSlash(f.Rel)) + ", or pass a DST for all"}
	}
	return Found{}, formats.ErrUnknown // unreachable: a walk without stores yields an error
}

// checkStoreDisjoint is checkDisjoint for a store outside of the path where the
// walk began: one found through a link, or the folder of the file that was
// named.
func checkStoreDisjoint(f Found, t stage.Target) error {
	at := f.Loc.Path
	if home := f.Detected[0].Format.Home; home != nil && home.StoreInside != nil && !f.Loc.IsDir() {
		if folder := home.StoreInside(f.Loc); folder != "" {
			return stage.CheckDisjoint(folder, t)
		}
	}
	if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return stage.CheckDisjoint(at, t)
	}
	return nil
}
