package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rehome/cmd/internal/clitest"
	"rehome/formats/session"
)

// programOf is the program with arguments, in a group of processes of its own.
func programOf(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), clitest.AsProgram+"=1", "TERM=xterm", "NO_COLOR=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// waitFor waits for a file to be there.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 20_000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
}

// longSession is the file of a session that no pipe holds at once.
func longSession(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "long.jsonl")
	s := &session.Session{Head: session.Head{ID: "5d0b2b7e-1111-4000-8000-000000000000", Agent: "cursor-cli", Title: "Long"}}
	var text []byte
	text = append(session.AppendHead(text, s), '\n')
	for range 4000 {
		text = append(session.AppendMessage(text, &session.Message{Role: session.User,
			Parts: []session.Part{&session.Text{Text: strings.Repeat("word ", 20)}}}), '\n')
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPagerOutlivesInterrupt: what a terminal interrupts is the pager. The
// program waits for the reader, however often that happens, and has all of the
// text for who wants it.
func TestPagerOutlivesInterrupt(t *testing.T) {
	dir := t.TempDir()
	pager := filepath.Join(dir, "pager")
	script := "#!/bin/sh\ntrap : INT\ncd '" + dir + "'\nhead -c 10 >/dev/null\n: >ready\nwhile [ ! -e go ]; do sleep 0.01; done\ncat >rest\n"
	if err := os.WriteFile(pager, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	master, slave := terminal(t, 80, 24)
	defer master.Close()
	go io.Copy(io.Discard, master)
	cmd := programOf("show", longSession(t, dir))
	cmd.Env = append(cmd.Env, "PAGER="+pager)
	cmd.Stdout, cmd.Stderr = slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	waitFor(t, filepath.Join(dir, "ready"))
	for range 3 {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // for it to arrive, where it is heard
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	rest, err := os.ReadFile(filepath.Join(dir, "rest"))
	if n := strings.Count(string(rest), "word word"); err != nil || n < 4000 {
		t.Errorf("%d lines, %v", n, err)
	}
}

// TestReaderLeaves: a pager that dies of an interrupt ends the program, which
// may have much to read still.
func TestReaderLeaves(t *testing.T) {
	dir := t.TempDir()
	pager := filepath.Join(dir, "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\n: >'"+dir+"/ready'\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	master, slave := terminal(t, 80, 24)
	defer master.Close()
	go io.Copy(io.Discard, master)
	cmd := programOf("show", longSession(t, dir))
	cmd.Env = append(cmd.Env, "PAGER="+pager)
	cmd.Stdout, cmd.Stderr = slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	waitFor(t, filepath.Join(dir, "ready"))
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestShowPipeInterrupted: show does not wait for a pipe that says nothing, nor
// for the rest of one that has begun.
func TestShowPipeInterrupted(t *testing.T) {
	for _, begun := range []string{"", clitest.StreamJSON[:200]} {
		cmd := programOf("show", "-")
		scratch := t.TempDir()
		cmd.Env = append(cmd.Env, "TMPDIR="+scratch)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(stdin, begun); err != nil {
			t.Fatal(err)
		}
		if begun != "" {
			io.ReadFull(stdout, make([]byte, 1)) // it shows what came
		}
		for begun == "" { // it has made room for what will come
			if list, _ := os.ReadDir(scratch); len(list) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(20*time.Second, func() {
			t.Errorf("%q: it waits for the end of the pipe", begun)
			stdin.Close()
		})
		io.Copy(io.Discard, stdout)
		err = cmd.Wait()
		late.Stop()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 130 {
			t.Errorf("%q: %v", begun, err)
		}
		if list, err := os.ReadDir(scratch); err != nil || len(list) > 0 {
			t.Errorf("left %v, %v", list, err)
		}
	}
}

// terminal is a pseudo-terminal of a size.
func terminal(t *testing.T, width, rows int) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, slave
}
