package sqlitefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// ending is a context that ends when it is asked for the nth time whether it has.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestBackupCanceled: a copy that was canceled anywhere is not taken for a whole one.
func TestBackupCanceled(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), three...)
	for n := 0; ; n++ {
		db := &DB{source: open(t, path, Options{}).source}
		ctx := &ending{t.Context(), n}
		to, err := db.backup(ctx, t.TempDir(), state{})
		if ctx.left >= 0 {
			if info, serr := os.Stat(to); err != nil || serr != nil || info.Size() == 0 {
				t.Errorf("not canceled: %v, %v", err, serr)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled when asked the %dth time: %v", n+1, err)
		}
	}
}
