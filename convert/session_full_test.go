//go:build !windows

package convert

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// TestFullDiskOfSessions: it is nobody's fault, and ends the whole run.
func TestFullDiskOfSessions(t *testing.T) {
	reg := talkers(nil)
	to := reg.Lookup("canonical")
	encode, n := to.Writer.Encode, 0
	to.Writer.Encode = func(ctx context.Context, s *session.Session, b formats.Build) error {
		if n++; n == 2 {
			return &os.PathError{Op: "write", Path: b.Path, Err: syscall.ENOSPC}
		}
		return encode(ctx, s, b)
	}
	dir := t.TempDir()
	for i := range 4 {
		write(t, fmt.Sprint(dir, "/in/", i, "/talk.txt"), "talk\n"+twoTalks)
	}
	rep, err := Convert(t.Context(), reg, dir+"/in", dir+"/out", Options{To: "canonical", Jobs: 1})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || rep.Placed || strings.Contains(fates(rep), "placed") {
		t.Errorf("%v %s", err, fates(rep))
	}
	nothingBut(t, dir, "in")
}
