package claudecode

import (
	"context"
	"errors"
	"io/fs"
)

// untouched reports whether a file is one of ours, line by line. The client
// adds to a file that it goes on with, and never takes from it: then our digest
// and title are not its end any more.
func untouched(ctx context.Context, path string) (bool, error) {
	err := verify(ctx, path)
	if ctxErr := ctx.Err(); ctxErr != nil {
		return false, ctxErr
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return false, err
	}
	return err == nil, nil
}
