package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is one process that listens. It is kept as JSON, so that a test can stop it and start
// it again with the script that REHOME_TEST_..._CTL names.
type server struct {
	Name  string
	Argv  []string
	Env   []string
	User  *syscall.Credential // nil: the one that this process has
	Stop  syscall.Signal      // ends it in good order
	Ready []string            // a command that succeeds once the server answers
	Addr  string              // without one: an address that takes connections
}

// patience is how long a server may take to start or to stop.
const patience = 30 * time.Second

// begin writes the server down in dir, starts it, and returns its script.
func (s server) begin(dir string) (script string, err error) {
	data, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, s.Name+".json")
	script = filepath.Join(dir, s.Name+".ctl")
	text := fmt.Sprintf("#!/bin/sh\n# %s start|stop|restart|kill\nexec '%s/services' ctl '%s' \"$1\"\n", s.Name, dir, file)
	return script, errors.Join(os.WriteFile(file, data, 0o600), os.WriteFile(script, []byte(text), 0o755), control(file, "start"))
}

// control does what a test asks of a server: start, stop, restart or kill.
func control(file, action string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var s server
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	base := strings.TrimSuffix(file, ".json")
	switch action {
	case "start":
		err = s.start(base)
	case "stop":
		err = s.end(base, s.Stop)
	case "kill":
		err = s.end(base, syscall.SIGKILL)
	case "restart":
		if err = s.end(base, s.Stop); err == nil {
			err = s.start(base)
		}
	default:
		err = errors.New("want start, stop, restart or kill")
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", action, s.Name, err)
	}
	return nil
}

// start starts the server and waits until it answers. One that gives up is started again: the
// processes of a killed one may still be ending.
func (s server) start(base string) error {
	if pid := running(base); pid != 0 {
		return fmt.Errorf("process %d is running", pid)
	}
	for until := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		pid, err := s.spawn(base)
		if err != nil {
			return err
		}
		for state(pid) != "" && time.Now().Before(until) {
			if s.answers() {
				return nil
			}
			time.Sleep(20 * time.Millisecond)
		}
		if time.Now().After(until) {
			log, _ := os.ReadFile(base + ".log")
			return fmt.Errorf("no answer after %v:\n%s", patience, log[max(0, len(log)-2000):])
		}
	}
}

func (s server) spawn(base string) (pid int, err error) {
	log, err := os.OpenFile(base+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir = filepath.Dir(base)
	cmd.Env = append([]string{mark + "=" + cmd.Dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}, s.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.User}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }()
	return cmd.Process.Pid, os.WriteFile(base+".pid", fmt.Append(nil, cmd.Process.Pid), 0o644)
}

func (s server) answers() bool {
	if len(s.Ready) > 0 {
		cmd := exec.Command(s.Ready[0], s.Ready[1:]...)
		cmd.Env = append(os.Environ(), s.Env...)
		return cmd.Run() == nil
	}
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// end sends a signal and waits until the process is gone.
func (s server) end(base string, sig syscall.Signal) error {
	pid := running(base)
	if pid == 0 {
		return nil
	}
	if err := syscall.Kill(pid, sig); err != nil {
		return err
	}
	for until := time.Now().Add(patience); state(pid) != ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			return fmt.Errorf("process %d has not ended after %v", pid, patience)
		}
	}
	return nil
}

// running returns the process of a server, or 0.
func running(base string) (pid int) {
	text, err := os.ReadFile(base + ".pid")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil || state(pid) == "" {
		return 0
	}
	return pid
}

// state returns the letter of a process's state, or "" for one that has ended, even if nobody
// has waited for it.
func state(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	after := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(after) == 0 || bytes.ContainsAny(after[0], "ZX") {
		return ""
	}
	return string(after[0])
}
