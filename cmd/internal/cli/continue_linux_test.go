package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rehome/cmd/internal/clitest"
	"rehome/formats/session"
	"rehome/testdata/chat"
	"rehome/testdata/vt"
)

// person is somebody in front of a terminal in which the program runs.
type person struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	before *unix.Termios

	done chan struct{} // closed when all is read

	mu     sync.Mutex
	sent   []byte // what the terminal got
	screen vt.Screen
}

// inFront starts the program on a terminal, in the home folder of somebody. Its stdout
// is the terminal, unless stdout is not nil.
func inFront(t *testing.T, width, rows int, home string, stdout *bytes.Buffer, args ...string) *person {
	t.Helper()
	env := []string{clitest.AsProgram + "=1", "TERM=xterm-256color", "HOME=" + home,
		"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "TZ=UTC"}
	return inFrontOf(t, width, rows, home, env, stdout, args...)
}

// inFrontOf is inFront in another folder, with an environment.
func inFrontOf(t *testing.T, width, rows int, dir string, env []string, stdout *bytes.Buffer, args ...string) *person {
	t.Helper()
	return inFrontOfProgram(t, width, rows, dir, env, stdout, os.Args[0], args...)
}

// inFrontOfProgram is inFrontOf with another program, such as a shell.
func inFrontOfProgram(t *testing.T, width, rows int, dir string, env []string, stdout *bytes.Buffer, program string,
	args ...string) *person {
	t.Helper()
	master, slave := terminal(t, width, rows)
	t.Cleanup(func() { master.Close() })
	p := &person{t: t, master: master, cmd: exec.Command(program, args...), done: make(chan struct{}),
		screen: vt.Screen{Rows: rows, Columns: width}}
	var err error
	if p.before, err = unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	p.cmd.Env, p.cmd.Dir = env, dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	if stdout != nil {
		p.cmd.Stdout = stdout
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go func() {
		defer close(p.done)
		b := make([]byte, 32<<10)
		for {
			n, err := master.Read(b)
			p.mu.Lock()
			p.sent = append(p.sent, b[:n]...)
			p.screen.Write(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// sees waits for words on the screen, which may break lines amid them.
func (p *person) sees(words string) {
	p.t.Helper()
	for range 20_000 {
		if text := p.text(); strings.Contains(text, words) || strings.Contains(dense(text), dense(words)) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	p.cmd.Process.Kill()
	p.t.Fatalf("%q does not appear on\n%s", words, p.text())
}

func dense(s string) string { return strings.Join(strings.Fields(s), "") }

// text returns what is on the screen.
func (p *person) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.Text()
}

// rests waits until the terminal gets nothing new: what draws a screen comes in parts.
func (p *person) rests() {
	p.t.Helper()
	for before := -1; ; {
		p.mu.Lock()
		now := len(p.sent)
		p.mu.Unlock()
		if now == before {
			return
		}
		before = now
		time.Sleep(200 * time.Millisecond)
	}
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the program, whose terminal must be as it was.
func (p *person) ends(code int) {
	p.t.Helper()
	late := time.AfterFunc(20*time.Second, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	err := p.cmd.Wait()
	<-p.done // the last one who could write has left
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Error(err)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit %d, want %d:\n%s", got, code, p.text())
	}
	after, err := unix.IoctlGetTermios(int(p.master.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.screen.FullScreen() {
		p.t.Error("the screen is not restored")
	}
	if *after != *p.before {
		p.t.Errorf("the terminal is left in another mode: %+v, was %+v", after, p.before)
	}
}

// furnishClaude installs a Claude Code that says how it was started.
func furnishClaude(t *testing.T, home string) {
	t.Helper()
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho \"claude $* in $(pwd), pid $$, with $PWD\"\nexit 7\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
}

// secondChat adds a chat with a hostile title, which belongs to no known folder.
func secondChat(t *testing.T, home string) {
	t.Helper()
	b, err := chat.Stores.ReadFile("before.db")
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(home, ".cursor", "chats", strings.Repeat("0", 32), "77777777-2222-4000-8000-00000000106e")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	meta := `{"schemaVersion":1,"createdAtMs":1791792000000,"updatedAtMs":1791792010000,"hasConversation":true,"title":"Evil \u001b]0;gotcha\u0007\u001b[2J\u202e words","isSubagent":false}`
	for name, content := range map[string][]byte{"store.db": b, "meta.json": []byte(meta)} {
		if err := os.WriteFile(filepath.Join(at, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const resumed = "claude --resume ae610db8-71a1-53d2-82dc-0c7b75cf5f59"

func chatHome(t *testing.T) string {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	furnishHome(t, home)
	furnishClaude(t, home)
	return home
}

// TestPicker: a session is filtered, looked at, chosen and continued, in place of
// this process, at several sizes of the screen.
func TestPicker(t *testing.T) {
	for _, size := range [][2]int{{100, 40}, {60, 20}} {
		home := chatHome(t)
		secondChat(t, home)
		p := inFront(t, size[0], size[1], home, nil, "continue")
		p.sees("2 of 2 sessions")
		p.sees("esc quit")
		p.sees("2026-10-12") // not when its file was written
		if size[1] == 40 {
			p.sees("TestLogin fails about one run in ten") // the preview
		}
		p.types("zzz")
		p.sees("0 of 2")
		p.types("\x15flky")
		p.sees("1 of 2")
		p.types("\r")
		p.sees("cd " + home + "/app && " + resumed)
		p.sees(resumed + " in " + home + "/app, pid ")
		p.ends(7)
		if strings.Contains(string(p.sent), "\x1b]0;") || !bytes.Contains(p.sent, []byte("gotcha")) {
			t.Errorf("the title acts, or is not shown: %q", p.sent)
		}
	}
}

// TestPickerSearch: --search lists the sessions in which the words are found.
func TestPickerSearch(t *testing.T) {
	home := chatHome(t)
	secondChat(t, home)
	p := inFront(t, 100, 40, home, nil, "continue", "--search", "ten fails")
	p.sees("1 of 1 session")
	p.sees("Fix the flaky login test")
	p.types("\r")
	p.sees(resumed + " in " + home + "/app, pid ")
	p.ends(7)
	p = inFront(t, 100, 40, home, nil, "continue", "--search", "ten xylophones")
	p.sees("no session contains these words")
	p.sees("hint: try fewer words")
	p.ends(1)
}

// TestWelcomeOnTerminal: without a command, one key continues the newest session
// of the working directory; who quits sees what else there is.
func TestWelcomeOnTerminal(t *testing.T) {
	home := chatHome(t)
	secondChat(t, home)
	p := inFront(t, 100, 40, home, nil)
	p.sees("2 cursor-cli\nChoose a session to continue")
	p.sees("2 of 2 sessions")
	p.types("\r")
	p.sees(resumed + " in " + home + "/app, pid ")
	p.ends(7)

	p = inFront(t, 60, 20, home, nil)
	p.sees("of 3 sessions") // one is now Claude Code's, too
	p.types("\x1b")
	p.sees("3 sessions on this machine\n")
	p.sees("  rehome continue")
	p.ends(0)
}

// TestPickerResized: the list is drawn for the new size.
func TestPickerResized(t *testing.T) {
	p := inFront(t, 100, 40, chatHome(t), nil, "continue")
	p.sees("shift+↑↓ scroll")
	p.mu.Lock()
	p.screen.Resize(20, 40)
	p.mu.Unlock()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 40}); err != nil {
		t.Fatal(err)
	}
	p.sees("\nenter Claude Code   esc quit   ↑↓ choose\n")
	p.types("\x03")
	p.ends(130)
}

// TestPickerQuits: who leaves without a choice gets the terminal back, and no
// message; so does one whose program is asked to end.
func TestPickerQuits(t *testing.T) {
	home := chatHome(t)
	for _, keys := range []string{"\x1b", "\x03"} {
		p := inFront(t, 80, 24, home, nil, "continue")
		p.sees("1 of 1 session")
		p.types(keys)
		p.ends(130)
		if got := p.text(); got != "" {
			t.Errorf("%q leaves\n%s", keys, got)
		}
	}
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		p := inFront(t, 80, 24, home, nil, "continue")
		p.sees("1 of 1 session")
		if err := p.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		p.ends(130)
	}
}

// TestPickerCaptured: the list is drawn on stderr if stdout is captured.
func TestPickerCaptured(t *testing.T) {
	home := chatHome(t)
	var stdout bytes.Buffer
	p := inFront(t, 80, 24, home, &stdout, "continue", "--print")
	p.sees("1 of 1 session")
	p.types("\r")
	p.ends(0)
	got := stdout.String()
	if !strings.HasPrefix(got, "rehome migrate "+home+"/.cursor/chats/") ||
		!strings.HasSuffix(got, " --update --cwd "+home+"/app && cd "+home+"/app && "+resumed+"\n") {
		t.Errorf("got %q", got)
	}
}

// TestContinue: without the list.
func TestContinue(t *testing.T) {
	home := chatHome(t)
	p := inFront(t, 80, 24, home, nil, "continue", "5d0b")
	p.sees(resumed + " in " + home + "/app, pid ")
	p.ends(7)

	if err := os.Remove(filepath.Join(home, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	p = inFront(t, 80, 24, home, nil, "continue", "5d0b")
	p.sees("cursor-agent: not found in $PATH")
	p.sees("install Cursor CLI, then run: cd " + home + "/app && cursor-agent --resume")
	p.ends(1)
}

// TestContinueAsksForFolder: a session whose folder is unknown continues in one that the user
// names. The home folder, in which terminals open, is never offered.
func TestContinueAsksForFolder(t *testing.T) {
	home := chatHome(t)
	loose := &session.Session{Head: session.Head{ID: "1", Agent: session.CursorCLI, Title: "Loose"}}
	writeSession(t, filepath.Join(home, "loose.jsonl"), loose, []*session.Message{{Role: session.User}, {Role: session.Assistant}}, "words")
	names := func(dir string) (out string) { // folders in which something was staged have another time
		for line := range strings.Lines(snapshot(t, dir)) {
			out += strings.Fields(line)[0] + "\n"
		}
		return out
	}
	ask := func(dir string) *person {
		env := []string{clitest.AsProgram + "=1", "TERM=xterm-256color", "HOME=" + home, "PATH=" + filepath.Join(home, "bin"),
			"TMPDIR=" + t.TempDir()}
		p := inFrontOf(t, 100, 24, dir, env, nil, "continue", filepath.Join(home, "loose.jsonl"))
		p.sees("The folder of this session is unknown.")
		return p
	}
	before := names(home)
	for _, keys := range []string{"\x04", "\r", "\x03"} {
		p := ask(home)
		p.sees("Folder to continue in: ")
		p.types(keys)
		if keys == "\x03" {
			p.ends(130)
			continue
		}
		p.sees("hint: pass --cwd DIR")
		p.ends(1)
	}
	if after := names(home); after != before {
		t.Errorf("without an answer, this was written:\n%s", after)
	}
	p := ask(home)
	p.types("nosuch\r")
	p.sees("nosuch: no such folder")
	p.types("~/app\r")
	p.sees(" in " + home + "/app, pid ")
	p.ends(7)
	p = ask(filepath.Join(home, "app"))
	p.sees("Folder to continue in (Enter for ~/app): ")
	p.types("\r")
	p.sees(" in " + home + "/app, pid ")
	p.ends(7)
}

// TestContinueWritesNothingFirst: where no client is installed that continues the session, and
// with --print, nothing is written: neither by a command nor by the list.
func TestContinueWritesNothingFirst(t *testing.T) {
	home := chatHome(t)
	if err := os.Remove(filepath.Join(home, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, home)
	env := []string{clitest.AsProgram + "=1", "TERM=xterm-256color", "HOME=" + home, "PATH=" + filepath.Join(home, "bin"),
		"TMPDIR=" + t.TempDir(), "TZ=UTC"}
	run := func(code int, sees string, args ...string) {
		t.Helper()
		p := inFrontOf(t, 100, 24, home, env, nil, args...)
		if len(args) < 2 {
			p.sees("enter Claude Code (not installed)   esc quit")
			p.types("\r")
		}
		p.sees(sees)
		p.ends(code)
		if after := snapshot(t, home); after != before {
			t.Errorf("rehome %q wrote:\n%s", args, after)
		}
	}
	run(1, "cursor-agent: not found in $PATH")
	run(1, "cursor-agent: not found in $PATH", "continue")
	run(1, "cursor-agent: not found in $PATH", "continue", "5d0b")
	run(1, "claude: not found in $PATH, so nothing was migrated", "continue", "5d0b", "--in", "claude-code")
	run(0, "rehome migrate 5d0b --update && cd "+home+"/app && "+resumed, "continue", "5d0b", "--print")
	run(0, "rehome migrate 5d0b --update --to cursor-cli --cwd "+home+" && cd "+home+" && cursor-agent --resume", "continue", "5d0b",
		"--print", "--in", "cursor-cli", "--cwd", home)
	run(0, "Agent.resume(", "continue", "5d0b", "--print", "--in", "cursor-sdk")
	agent := filepath.Join(home, "bin", "cursor-agent")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	before = snapshot(t, home)
	run(1, "hint: install Claude Code, or pass --in cursor-cli", "continue", "5d0b", "--in", "claude-code")
}

// TestContinuePrintRuns: what --print prints does what continue does.
func TestContinuePrintRuns(t *testing.T) {
	home := chatHome(t)
	if err := os.Symlink(os.Args[0], filepath.Join(home, "bin", "rehome")); err != nil {
		t.Fatal(err)
	}
	for n := range 2 { // the second time, the session is there
		cmd := exec.Command("/bin/sh", "-c", `eval "$(rehome continue 5d0b --print)"`)
		cmd.Dir, cmd.Env = home, []string{clitest.AsProgram + "=1", "HOME=" + home,
			"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
		out, _ := cmd.CombinedOutput()
		if got := string(out); cmd.ProcessState.ExitCode() != 7 || !strings.Contains(got, resumed+" in "+home+"/app, pid ") ||
			strings.Contains(got, "Undo:") != (n == 0) {
			t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), got)
		}
	}
}

// TestPickerTab: Tab chooses the client that Enter starts.
func TestPickerTab(t *testing.T) {
	home := chatHome(t)
	if err := os.WriteFile(filepath.Join(home, "bin", "cursor-agent"), []byte("#!/bin/sh\necho \"cursor-agent $* in $(pwd)\"\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	for keys, want := range map[string]string{"\r": "cursor-agent --resume 5d0b2b7e-2222-4000-8000-00000000106e in " + home + "/app", "\t\r": resumed + " in " + home + "/app, pid "} {
		p := inFront(t, 100, 24, home, nil, "continue", "--client", "cursor-cli")
		p.sees("enter Cursor CLI   tab Claude Code   esc quit")
		p.types(keys)
		p.sees(want)
		p.ends(map[string]int{"\r": 0, "\t\r": 7}[keys])
	}
	p := inFront(t, 100, 24, home, nil, "continue", "--client", "cursor-cli", "--in", "claude-code")
	p.sees("enter Claude Code   esc quit")
	p.types("\x1b")
	p.ends(130)
}

// TestContinueMoved: what was added to a chat in Cursor after its project moved is in the
// session that Claude Code continues there, for both orders of the hashes of the folders.
func TestContinueMoved(t *testing.T) {
	for _, rise := range []bool{true, false} {
		h := newMovedHome(t, "app", "app2")
		for i := 3; h.hashesRise() != rise; i++ {
			h.now = filepath.Join(h.home, "app"+strconv.Itoa(i))
		}
		furnishClaude(t, h.home)
		if err := os.Remove(filepath.Join(h.home, "bin", "cursor-agent")); err != nil {
			t.Fatal(err)
		}
		resumes := func(dir string) {
			p := inFront(t, 100, 24, h.home, nil, "continue", movedChat)
			p.sees(" in " + dir + ", pid ")
			p.ends(7)
		}
		resumes(h.old)
		if err := os.Rename(h.old, h.now); err != nil {
			t.Fatal(err)
		}
		h.run("mv", h.old, h.now)
		h.chat(h.now, "after.db")
		resumes(h.now)
		files, err := filepath.Glob(filepath.Join(h.home, ".claude", "projects", "*"+filepath.Base(h.now), "*.jsonl"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		if b, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(b), "a.txt says goodbye now.") {
			t.Errorf("%v: the turn is not in %s", err, files[0])
		}
	}
}

// TestContinueOwnClient: a client that is installed resumes its own sessions, unless
// another one is wanted.
func TestContinueOwnClient(t *testing.T) {
	home := chatHome(t)
	agent := filepath.Join(home, "bin", "cursor-agent")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\necho \"cursor-agent $* in $(pwd)\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := inFront(t, 80, 24, home, nil, "continue", "5d0b")
	p.sees("cursor-agent --resume 5d0b2b7e-2222-4000-8000-00000000106e in " + home + "/app")
	p.ends(0)
	p = inFront(t, 80, 24, home, nil, "continue", "5d0b", "--in", "claude-code")
	p.sees(resumed + " in " + home + "/app, pid ")
	p.ends(7)
}
