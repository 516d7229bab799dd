// Command services starts the servers that tests need, in a temporary folder, runs a command
// beside them, and stops them. See README.md beside this file.
//
//	testdata/services/run [-only postgres,redis,s3,slurm | -for DIR] -- command...
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// mark is the variable that all processes started here have in common. Its value is the
// folder of this run.
const mark = "REHOME_SERVICES"

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "ctl":
		fail(control(args[1], args[2]))
	case len(args) == 2 && args[0] == "guard":
		fail(guard(args[1]))
	default:
		code, err := run(args)
		fail(err)
		os.Exit(code)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(1)
	}
}

// run starts the servers and the command, and returns the exit code of the command.
func run(args []string) (code int, err error) {
	flags := flag.NewFlagSet("services", flag.ExitOnError)
	only := flags.String("only", "postgres,redis,s3,slurm", "the servers to start")
	needs := flags.String("for", "", "start the servers whose variables occur in the files of this folder")
	remove := flags.Bool("self-remove", false, "remove this program when it has started")
	_ = flags.Parse(args)
	if flags.NArg() == 0 {
		return 0, errors.New("no command; want: run [-only postgres,redis,s3,slurm | -for DIR] -- command")
	}
	if *needs != "" {
		if *only, err = named(*needs); err != nil {
			return 0, err
		}
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	dir, stop, err := place(*remove)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	env := append(os.Environ(), mark+"="+dir)
	for name := range strings.SplitSeq(*only, ",") {
		setup, known := setups()[name]
		if name == "" {
			continue
		} else if !known {
			return 0, fmt.Errorf("-only %s: not a server; want postgres, redis, s3 or slurm", name)
		}
		select {
		case <-signals:
			return 130, nil
		default:
		}
		began := time.Now()
		more, err := setup(dir)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(os.Stderr, "services: %s answers after %.1f s\n", name, time.Since(began).Seconds())
		env = append(env, more...)
	}
	return command(flags.Args(), env, signals)
}

// place makes the folder of this run, and starts the guard that will clear it away: when stop
// is called, or when this process ends in any other way.
func place(remove bool) (dir string, stop func() error, err error) {
	if dir, err = os.MkdirTemp("", "rehome-services-"); err != nil {
		return "", nil, err
	}
	self := filepath.Join(dir, "services")
	// Other users pass through it to their own folders.
	if err = errors.Join(os.Chmod(dir, 0o711), copySelf(self, remove)); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	cmd := exec.Command(self, "guard", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	end, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(end.Close(), cmd.Wait()) }, nil
}

func copySelf(to string, remove bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if remove {
		defer os.Remove(self)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// command runs the command and passes signals on to it.
func command(args, env []string, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	patience := make(<-chan time.Time)
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s)
			patience = time.After(10 * time.Second)
		case <-patience:
			_ = cmd.Process.Kill()
		case err := <-ended:
			if state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && state.Signaled() {
				return 128 + int(state.Signal()), nil
			}
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, err
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

// guard waits until the process that started it ends, stops all that was started, and removes
// the folder.
func guard(dir string) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	// Servers first: one that is killed may leave shared memory behind.
	servers, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for i := len(servers) - 1; i >= 0; i-- {
		_ = control(servers[i], "stop")
	}
	for quiet := 0; quiet < 3; time.Sleep(20 * time.Millisecond) {
		quiet++
		for _, pid := range marked(dir) {
			quiet = 0
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return os.RemoveAll(dir)
}

// marked lists the processes of this run: those with the mark in their environment, and,
// since a server may overwrite that, those that work in its folder.
func marked(dir string) (pids []int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		var pid int
		if _, err := fmt.Sscanf(name, "/proc/%d/environ", &pid); err != nil || pid == os.Getpid() || state(pid) == "" {
			continue
		}
		env, _ := os.ReadFile(name)
		at, _ := os.Readlink(filepath.Join(filepath.Dir(name), "cwd"))
		if strings.Contains("\x00"+string(env), "\x00"+mark+"="+dir+"\x00") || at == dir || strings.HasPrefix(at, dir+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}
