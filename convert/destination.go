package convert

import (
	"context"
	"errors"
	"path/filepath"

	"rehome/formats"
)

// destination finds the target where the user names none: it is the place in
// which the client looks for the sessions of a program that works in Cwd.
// There is one such place, so it takes one store.
func (j *job) destination(ctx context.Context) error {
	if j.dst != "" || j.o.Cwd == "" {
		return nil
	}
	f, err := j.sole(ctx)
	if err != nil {
		return err
	}
	to, err := j.chooseTarget(ctx, f.Detected[0].Format, f.Loc)
	if err != nil {
		return err
	}
	if to.ProjectPath == nil {
		return &formats.Error{At: to.Name, Err: errors.New("no default location for stores of this format"), Hint: "pass a DST; you can combine it with --cwd"}
	}
	j.dst, j.own = to.ProjectPath(j.o.Home, j.o.Cwd), true
	j.rep.Target = j.dst
	j.out, err = newOutside(j, to)
	return err
}

// sole is the store that the source itself is.
func (j *job) sole(ctx context.Context) (Found, error) {
	for f, err := range Stores(ctx, j.reg, j.src, j.o.From) {
		if err != nil || f.Rel == "." {
			return f, err
		}
		return f, &formats.Error{At: j.src, Err: errors.New("a folder of stores, but --cwd without DST takes a single store"),
			Hint: "pass one of them as SRC, such as " + filepath.Join(j.src, filepath.FromSlash(f.Rel)) + ", or pass a DST for all"}
	}
	return Found{}, formats.ErrUnknown // the walk has ended, which cannot be without a word
}
