// Command cost counts the statements that run in a dozen jobs of the program, and
// compares them with what testdata/cost/steps.txt says. It does not depend on the
// machine, as time does. A job that takes 2 % more steps is red until the file says
// why; -update writes the numbers.
//
//	go run ./testdata/cost [-update]
//
// It counts statements of this module, not what SQLite and the runtime do for them.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	kept  = "testdata/cost/steps.txt"
	slack = 0.02 // more than that is said; scheduling changes less
)

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write the numbers that were counted")
	flag.Parse()
	dir, err := os.MkdirTemp("", "cost")
	if err == nil {
		err = errors.Join(run(dir, *update), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal("cost: ", err)
	}
}

func run(dir string, update bool) error {
	want, err := read(kept)
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "rehome")
	if err := command(dir, os.Environ(), "go", "build", "-cover", "-covermode=count", "-coverpkg=rehome/...", "-o", program, "./cmd/rehome"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "talk.jsonl"), conversation(), 0o666); err != nil {
		return err
	}
	var lines []line
	var wrong []error
	for _, j := range jobs {
		n, err := steps(dir, program, j)
		if err != nil {
			return err
		}
		now := line{job: j.name, steps: n}
		was, known := find(want, j.name)
		if change := float64(n)/float64(max(1, was.steps)) - 1; !known {
			wrong = append(wrong, fmt.Errorf("%s: is not in %s", j.name, kept))
		} else if change > slack || change < -slack {
			wrong = append(wrong, fmt.Errorf("%s: %d steps, %+.1f %% of %d", j.name, n, 100*change, was.steps))
			if change > 0 {
				now.why = "WHY?"
			}
		} else {
			now = was
		}
		fmt.Printf("%-28s %12d\n", j.name, n)
		lines = append(lines, now)
	}
	if update {
		return write(kept, lines)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w\nrun make cost UPDATE=-update, and say in %s why a job takes more", errors.Join(wrong...), kept)
	}
	return nil
}

// line is what the file says of a job.
type line struct {
	job   string
	steps int
	why   string // why it takes more than before
}

func find(list []line, job string) (line, bool) {
	for _, l := range list {
		if l.job == job {
			return l, true
		}
	}
	return line{}, false
}

func read(name string) (list []line, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for one := range strings.Lines(string(text)) {
		if strings.HasPrefix(one, "#") {
			continue
		}
		words := strings.SplitN(strings.TrimSuffix(one, "\n"), "\t", 3)
		if len(words) < 2 {
			return nil, fmt.Errorf("%s: %q is no job", name, one)
		}
		l := line{job: words[0]}
		if l.steps, err = strconv.Atoi(words[1]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(words) == 3 {
			l.why = words[2]
		}
		if l.why == "WHY?" {
			return nil, fmt.Errorf("%s: say why %s takes more steps", name, l.job)
		}
		list = append(list, l)
	}
	return list, err
}

func write(name string, list []line) error {
	var out bytes.Buffer
	out.WriteString("# Statements that run in each job, and why the last change that took more did so. See main.go.\n")
	for _, l := range list {
		fmt.Fprintf(&out, "%s\t%d", l.job, l.steps)
		if l.why != "" {
			fmt.Fprintf(&out, "\t%s", l.why)
		}
		out.WriteByte('\n')
	}
	return os.WriteFile(name, out.Bytes(), 0o666)
}

// steps runs a job and returns how many statements ran.
func steps(dir, program string, j job) (int, error) {
	counts := filepath.Join(dir, "counts")
	if err := errors.Join(os.RemoveAll(counts), os.Mkdir(counts, 0o777)); err != nil {
		return 0, err
	}
	env := []string{"GOCOVERDIR=" + counts, "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GOMAXPROCS=1"}
	if err := command(dir, env, program, j.args(dir)...); err != nil {
		return 0, fmt.Errorf("%s: %w", j.name, err)
	}
	profile := filepath.Join(dir, "profile")
	if err := command(dir, os.Environ(), "go", "tool", "covdata", "textfmt", "-i", counts, "-o", profile); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return 0, err
	}
	sum := 0
	for one := range strings.Lines(string(text)) {
		var statements, count int
		if words := strings.Fields(one); len(words) == 3 {
			if _, err := fmt.Sscan(words[1]+" "+words[2], &statements, &count); err != nil {
				return 0, err
			}
		}
		sum += statements * count
	}
	if sum == 0 {
		return 0, fmt.Errorf("%s: nothing ran", j.name)
	}
	return sum, nil
}

// command runs a program; what it prints is told if it fails.
func command(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, bytes.ReplaceAll(out, []byte(dir+string(filepath.Separator)), nil))
	}
	return nil
}
