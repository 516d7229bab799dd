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
	n := 0
	putting(to, func(ctx context.Context, s *session.Session, b formats.SessionBuild, own formats.Sink) (*formats.Draft, error) {
		if n++; n == 2 {
			return nil, &os.PathError{Op: "write", Path: b.Path, Err: syscall.ENOSPC}
		}
		return own.Put(ctx, s, b)
	})
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
