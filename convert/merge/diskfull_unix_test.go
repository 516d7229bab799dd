//go:build linux || darwin

package merge

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rehome/formats/all"
)

// victimVariable makes this program a process that cannot write larger files.
const victimVariable = "REHOME_TEST_FILE_LIMIT"

func TestMain(m *testing.M) {
	limit, err := strconv.ParseUint(os.Getenv(victimVariable), 10, 64)
	if err != nil {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGXFSZ)
	err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit})
	if err == nil {
		last := len(os.Args) - 1
		_, err = Run(context.Background(), all.Registry(), os.Args[1:last], os.Args[last], Options{Replace: true})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// TestFileSizeLimit is a disk that fills up at any byte: the old target stays, and nothing
// else is left.
func TestFileSizeLimit(t *testing.T) {
	for name, c := range clients() {
		a := person{}
		c.say(a, c.id(1), "base")
		b := a.clone()
		c.say(a, c.id(1), "left")
		c.say(b, c.id(1), "right")
		from, to, dir := a.save(t), b.save(t), t.TempDir()
		out := filepath.Join(dir, "out")
		placed, refused := 0, 0
		for limit := 0; limit < 2000; limit += 150 {
			old := person{"mine": "mine"}
			if err := os.CopyFS(out, os.DirFS(old.save(t))); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], from, to, out)
			cmd.Env = append(os.Environ(), victimVariable+"="+fmt.Sprint(limit))
			text, err := cmd.CombinedOutput()
			if err == nil {
				placed++
				same(t, "the backup", tree(t, out+".bak-1"), old)
			} else {
				refused++
				same(t, name+": after the error", tree(t, dir), person{"out/mine": "mine"})
				if !strings.Contains(string(text), "the disk is full") || strings.Contains(string(text), ".rehome-") {
					t.Errorf("%s: limit %d: %s", name, limit, text)
				}
			}
			for _, left := range []string{out, out + ".bak-1"} {
				if err := os.RemoveAll(left); err != nil {
					t.Fatal(err)
				}
			}
		}
		same(t, "the source", tree(t, from), a)
		if placed == 0 || refused == 0 {
			t.Errorf("%s: placed %d, refused %d: the limits do not straddle the need", name, placed, refused)
		}
	}
}
