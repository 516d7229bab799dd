package convert

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rehome/testdata/kill"
)

// network names the system calls that open a way out of the machine, or could
// make the kernel do it.
func network() map[uint64]string {
	return map[uint64]string{
		unix.SYS_SOCKET: "socket", unix.SYS_SOCKETPAIR: "socketpair", unix.SYS_CONNECT: "connect", unix.SYS_BIND: "bind",
		unix.SYS_LISTEN: "listen", unix.SYS_ACCEPT: "accept", unix.SYS_ACCEPT4: "accept4",
		unix.SYS_SENDTO: "sendto", unix.SYS_SENDMSG: "sendmsg", unix.SYS_SENDMMSG: "sendmmsg",
		unix.SYS_IO_URING_SETUP: "io_uring_setup", unix.SYS_PIDFD_GETFD: "pidfd_getfd",
	}
}

// reaches runs a program, and returns the network calls it made with the code
// it exited with.
func reaches(t *testing.T, cmd *exec.Cmd) (calls []string, code int) {
	t.Helper()
	n := 0
	ws, err := kill.Trace(cmd, func(c kill.SystemCall) {
		n++
		switch {
		case !c.Begins:
		case network()[c.Number] != "":
			calls = append(calls, network()[c.Number])
		case c.Number == unix.SYS_INOTIFY_ADD_WATCH: // a loop that only a signal stops
			unix.Kill(cmd.Process.Pid, unix.SIGINT)
		}
	})
	if errors.Is(err, unix.EPERM) {
		t.Fatal("ptrace is not permitted here, so nothing can be said about sockets: allow it (in a container: --cap-add=SYS_PTRACE)")
	}
	if err != nil || n == 0 {
		t.Fatalf("%q: %d system calls seen: %v", cmd.Args, n, err)
	}
	return calls, ws.ExitStatus()
}

// TestSocketsAreSeen: the trace sees the socket of a program, and of one that
// the program starts.
func TestSocketsAreSeen(t *testing.T) {
	for _, how := range []string{"socket", "child"} {
		calls, code := reaches(t, exec.Command(os.Args[0], "victim", "", "", how, "0"))
		if code != 0 || !slices.Equal(calls, []string{"socket"}) {
			t.Errorf("%s: exit %d, calls %q", how, code, calls)
		}
	}
}

// TestNoSockets runs every command, and some that are told to fetch something.
// A container without a network, or a proxy in the environment, makes no
// difference: not even the attempt is made.
func TestNoSockets(t *testing.T) {
	bin, dir := program(t), t.TempDir()
	sample, err := os.ReadFile(sampleStore)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "chat", "store.db"), string(sample))
	write(t, filepath.Join(dir, ".cursor", "chats", strings.Repeat("0a", 16), "5d0b2b7e-2222-4000-8000-00000000106e", "store.db"), string(sample))
	write(t, filepath.Join(dir, "remote.json"), `{"$schema":"https://example.com/draft","$ref":"https://example.com/schema.json"}`)
	if err := os.CopyFS(filepath.Join(dir, "samples"), os.DirFS("../testdata")); err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	const unsure = -1 // as the samples have it, but not 2
	for _, c := range []struct {
		args string
		code int
	}{
		{"--help", 0}, {"version", 0}, {"formats", 0}, {"schema", 0}, {"schema error-1", 0}, {"man", 0},
		{"completion bash", 0}, {"completion powershell", 0}, {"__complete ", 0}, {"demo", 0},
		{"detect chat", 0}, {"ls", 0}, {"ls samples --all --long", 0},
		{"show chat --thinking --tools full", 0}, {"show chat --format markdown", 0}, {"show https://example.com/chat", 2},
		{"convert chat text --to archive", 0}, {"convert text back.db", 0}, {"convert chat all.jsonl --to canonical", 0},
		{"diff chat all.jsonl", 0}, {"diff HEAD -- chat", 1}, {"diff chat text --exact", 0}, {"merge chat chat merged", 0}, {"git setup", 1}, {"repair chat repaired", 0}, {"git textconv all.jsonl", 0},
		{"redact chat redacted", 0}, {"convert samples canonical --to canonical", unsure}, {"convert https://example.com/store.db x --to archive", 2},
		{"convert chat text --to archive --update", 0}, {"watch chat text --to archive --once", 0}, {"watch chat watched --to archive", 0},
		{"backup backups", 0}, {"backup --print-schedule cron", 0}, {"restore backups --to restored", 0}, {"restore //example.com/share", 1},
		{"migrate chat --home home --cwd /work", 0}, {"migrate //example.com/share --home home", 1},
		{"migrate chat --to cursor-sdk --home home --cwd /work", 0}, {"migrate chat --to cursor-cli --cursor-dir cli --cwd /work --again", 0}, {"undo --list --home home", 0}, {"undo --home home", 0}, {"mv /old /new --home home", 2},
		{"check chat --secrets", 0}, {"check samples --secrets --for claude-code --format sarif", unsure}, {"check --rules", 0},
		{"check all.jsonl --schema remote.json", 1}, {"nonsense", 2},
		{"search hello", 0}, {"search --path samples -e h.llo", 0}, {"doctor", 0}, {"doctor samples", unsure},
		{"continue 5d0b2b7e --cwd . --print", 0}, {"continue https://example.com/chat --print", 2},
	} {
		args := strings.Split(c.args, " ")
		covered[args[0]] = true
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "HTTPS_PROXY=http://127.0.0.1:9", "GIT_CONFIG_NOSYSTEM=1"}
		if calls, code := reaches(t, cmd); len(calls) > 0 || code != c.code && (c.code != unsure || code == 2) {
			t.Errorf("rehome %s: exit %d, want %d; network calls: %q", c.args, code, c.code, calls)
		}
	}
	man, err := exec.Command(bin, "man").Output()
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^\.SS rehome (\w+)`).FindAllSubmatch(man, -1)
	for _, m := range commands {
		if !covered[string(m[1])] {
			t.Errorf("rehome %s was not run", m[1])
		}
	}
	if len(commands) < 10 {
		t.Errorf("only %d commands are in the manual", len(commands))
	}
}
