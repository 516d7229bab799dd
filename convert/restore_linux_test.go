package convert

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/formats"
	machines "rehome/testdata/homes"
	"rehome/testdata/kill"
)

// TestRestoreKilled kills restore at every step that makes, renames or removes a file or
// folder, below a home folder that has none of the clients' folders yet, so that stores are
// staged far above their places. The next run completes it, and nothing else is left.
func TestRestoreKilled(t *testing.T) {
	bin, dir := program(t), memory(t)
	from, to, backups := filepath.Join(dir, "from"), filepath.Join(dir, "to"), filepath.Join(dir, "backups")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := machines.Make(from, machines.Count{Chats: 1}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(from, ".claude", "projects", "-home-ann-app", "20000000-0000-4000-8000-000000000001.jsonl"), `{"type":"summary","summary":"s"}`+"\n")
	command := func(home string, args ...string) *exec.Cmd {
		cmd := exec.Command(bin, args...)
		cmd.Env = []string{"HOME=" + home, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	if out, err := command(from, "backup", backups).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	restore := func() *exec.Cmd { return command(to, "restore", backups, "--jobs", "1") }
	steps := []uint64{unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_FSYNC}
	killAt := func(n int) (seen int, err error) {
		if err := errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o755)); err != nil {
			t.Fatal(err)
		}
		cmd := restore()
		_, err = kill.Trace(cmd, func(c kill.SystemCall) {
			if c.Begins && slices.Contains(steps, c.Number) {
				if seen++; seen == n {
					unix.Kill(cmd.Process.Pid, unix.SIGKILL)
				}
			}
		})
		return seen, err
	}
	n, err := killAt(0)
	if errors.Is(err, unix.EPERM) {
		t.Log("tracing is not allowed here: backup.TestSweptWhereverStaged stands for it")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	fresh := tree(t, to)
	staged := 0
	for at := n; at > 0; at = stepBefore(at, 1) {
		if _, err := killAt(at); err != nil {
			t.Fatal(err)
		}
		isStaged := func(s string) bool { return strings.Contains(s, formats.StagingMark) }
		if slices.ContainsFunc(tree(t, to), isStaged) {
			staged++
		}
		if out, err := restore().CombinedOutput(); err != nil {
			t.Fatalf("killed at step %d: %v\n%s", at, err, out)
		}
		if now := tree(t, to); !slices.Equal(now, fresh) {
			t.Fatalf("killed at step %d: %s", at, firstDifference(now, fresh))
		}
	}
	t.Logf("%d steps, %d left something staged", n, staged)
	if staged == 0 || !slices.ContainsFunc(fresh, func(s string) bool { return strings.Contains(s, "store.db") }) {
		t.Errorf("staged %d times; restored %q", staged, fresh)
	}
}
