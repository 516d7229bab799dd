//go:build services

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("SERVICES_MAIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func services(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SERVICES_MAIN=1")
	return cmd
}

func TestExitCode(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 143} {
		cmd := services("-only", "", "--", "sh", "-c", script)
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit %d, want %d", script, got, want)
		}
	}
	for _, args := range [][]string{{}, {"-only", "oracle", "--", "true"}, {"-only", "", "--", "/nonexistent"}} {
		if out, err := services(args...).CombinedOutput(); err == nil || !bytes.HasPrefix(out, []byte("services: ")) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// TestEnds: whatever ends the program, the servers, the command and what that started end too,
// and the folder goes. A command that ignores the signal is killed with the rest.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		how    syscall.Signal
		script string
	}{
		{syscall.SIGTERM, "sleep 600 & wait"},
		{syscall.SIGKILL, "trap '' TERM; sleep 600 & sleep 600"},
		{0, "(setsid sleep 600) & exit 0"},
	} {
		cmd := services("-only", "redis,postgres", "--", "bash", "-c", "echo $"+mark+"; "+c.script)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		dir, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		dir = strings.TrimSpace(dir)
		if c.how != 0 {
			if len(marked(dir)) < 4 {
				t.Errorf("only processes %v have the mark", marked(dir))
			}
			if err := cmd.Process.Signal(c.how); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Wait()
		gone := func() bool {
			_, err := os.Stat(dir)
			return os.IsNotExist(err) && len(marked(dir)) == 0
		}
		for until := time.Now().Add(patience); !gone(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%v: processes %v remain, or %s", c.how, marked(dir), dir)
			}
		}
	}
}

// TestMissing: without the rights to install a package, the error names it.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := found("a-package", "a-program")
	if err == nil || !strings.Contains(err.Error(), "hint: sudo apt-get install a-package") {
		t.Errorf("got %v", err)
	}
}
