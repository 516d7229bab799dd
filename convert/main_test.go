//go:build linux || darwin

package convert

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rehome/formats/all"
	"rehome/internal/fsx"
)

// TestMain lets this binary be the victim of its own crash tests: started as
// "victim …" it converts with the fakes and dies on the way, or meets a limit.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "victim" {
		os.Exit(victim(os.Args[2:]))
	}
	code := m.Run()
	if asked.Load() {
		if bin, err := built(); err == nil {
			os.RemoveAll(filepath.Dir(bin))
		}
	}
	os.Exit(code)
}

// victim SRC DST die N before|after: is killed at its Nth rename.
// victim SRC DST update N before|after STATE: the same, as it updates.
// victim SRC DST limit BYTES: cannot write larger files.
// victim SRC DIR into BYTES CWD UNDO FORMAT: migrates a session, and cannot write larger
// files unless BYTES is 0.
// victim COPY ORIGINAL back BYTES FORMAT ID FORMAT ID HOME UNDO: brings turns back, and cannot
// write larger files unless BYTES is 0.
// victim "" DATABASE hold 0: has a database open until stdin ends.
// victim "" "" socket|child 0: opens a socket, or starts another that does.
func victim(args []string) int {
	src, dst, how := args[0], args[1], args[2]
	n, _ := strconv.Atoi(args[3])
	rename := fsx.Move
	switch how {
	case "die", "update":
		made := 0
		rename = func(from, to string) error {
			made++
			if made == n && args[4] == "before" {
				die()
			}
			err := fsx.Move(from, to)
			if made == n {
				die()
			}
			return err
		}
	case "limit":
		if err := limitFiles(n); err != nil {
			fmt.Println("no limit:", err)
			return 2
		}
	case "into":
		if n > 0 {
			if err := limitFiles(n); err != nil {
				fmt.Println("no limit:", err)
				return 2
			}
		}
		o := MigrateOptions{To: args[6], Dir: dst, Cwd: args[4], UndoDir: args[5], Update: true}
		done, err := Migrate(context.Background(), all.Registry(), []MigrateSource{{Path: src}}, o)
		if err != nil || done.Count(Failed) > 0 {
			fmt.Println(err, done.Migrated[0].Err())
			return 1
		}
		return 0
	case "back":
		if n > 0 {
			if err := limitFiles(n); err != nil {
				fmt.Println("no limit:", err)
				return 2
			}
		}
		if err := bringBack(args); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	case "hold":
		db, err := sql.Open("sqlite", dst)
		if err == nil {
			err = db.Ping()
		}
		if err == nil {
			_, err = db.Exec("SELECT 1 FROM sqlite_schema")
		}
		fmt.Println(err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "socket":
		if _, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
			return 2
		}
		return 0
	case "child":
		if exec.Command(os.Args[0], "victim", "", "", "socket", "0").Run() != nil {
			return 2
		}
		return 0
	}
	o := Options{To: goesTo(src), Replace: true}
	if how == "update" {
		o = Options{To: goesTo(src), Update: true, Delete: true, State: args[5]}
	}
	rep, err := convertWith(context.Background(), fakes(nil, nil), src, dst, o, rename)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if !rep.Placed {
		return 3
	}
	return 0
}

// limitFiles limits the size of the files that this process writes.
func limitFiles(n int) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)})
}

func goesTo(src string) string {
	if strings.HasSuffix(src, ".right") {
		return "left"
	}
	return "right"
}

// die is what the kernel does to a process: no deferred call runs.
func die() {
	p, _ := os.FindProcess(os.Getpid())
	p.Kill()
	select {}
}

// bringBack is what the victim does.
func bringBack(args []string) error {
	from, to := BackSource{Path: args[0], Format: args[4], ID: args[5]}, BackSource{Path: args[1], Format: args[6], ID: args[7]}
	_, err := Back(context.Background(), all.Registry(), from, to, MigrateOptions{To: to.Format, Dir: clientDir(args[8], to.Format), UndoDir: args[9]})
	return err
}

// clientDir is the config folder of a client.
func clientDir(home, client string) string {
	return filepath.Join(home, map[string]string{"claude-code": ".claude", "cursor-chat": ".cursor"}[client])
}
