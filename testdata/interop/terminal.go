package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"rehome/testdata/vt"
)

// job is a program in front of a terminal, and what a person who waits there
// must get to see, one phrase behind the other.
type job struct {
	Command []string `json:"command"`
	Dir     string   `json:"dir"`
	Env     []string `json:"env"`
	Rows    uint16   `json:"rows"`
	Columns uint16   `json:"columns"`
	Keys    []press  `json:"keys"`
	Phrases []string `json:"phrases"`
	Seconds int      `json:"seconds"` // before the waiting ends
}

// press is what the person types once some words are on the screen.
type press struct {
	After string `json:"after"`
	Type  string `json:"type"`
}

// seen is what came of it.
type seen struct {
	Text    string   `json:"text"`    // what stood on the screen
	Missing []string `json:"missing"` // phrases that did not come, each behind those in front of it
	Millis  int64    `json:"millis"`  // until the last of them
}

func (j job) run() (*seen, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(j.Seconds)*time.Second)
	defer cancel()
	person, program, err := openTerminal(j.Rows, j.Columns)
	if err != nil {
		return nil, err
	}
	defer person.Close()
	cmd := exec.Command(j.Command[0], j.Command[1:]...)
	cmd.Dir, cmd.Env = j.Dir, j.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = inFront()
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, program.Close())
	}
	if err := program.Close(); err != nil {
		return nil, err
	}
	pieces, over := make(chan []byte), make(chan struct{})
	defer close(over)
	go read(person, pieces, over)
	out := watch(ctx, pieces, &vt.Screen{Rows: int(j.Rows), Columns: int(j.Columns)}, j.Phrases, j.typist(person))
	out.Millis = time.Since(begun).Milliseconds()
	// Its helpers are of its group; it is ended without a word.
	end(cmd.Process.Pid)
	cmd.Wait() // it was killed, and says so
	return out, nil
}

// typist types the keys, each once its words are on the screen.
func (j job) typist(on io.Writer) func(text string) {
	keys := j.Keys
	return func(text string) {
		for len(keys) > 0 && len(behind(text, []string{keys[0].After})) == 0 {
			io.WriteString(on, keys[0].Type) // if nobody is there any more, what is missing tells
			keys = keys[1:]
		}
	}
}

// read passes on what is written, until the last writer is gone or nobody listens.
func read(f *os.File, pieces chan<- []byte, over <-chan struct{}) {
	defer close(pieces)
	for {
		b := make([]byte, 32<<10)
		n, err := f.Read(b)
		if err != nil {
			return
		}
		select {
		case pieces <- b[:n]:
		case <-over:
			return
		}
	}
}

// watch reads along until all is seen, or the time is over; or nothing more
// comes, though the last phrase is there.
func watch(ctx context.Context, pieces <-chan []byte, on *vt.Screen, phrases []string, typed func(text string)) *seen {
	out := &seen{Missing: phrases}
	quiet := time.NewTimer(time.Hour)
	for len(out.Missing) > 0 {
		select {
		case b, ok := <-pieces:
			if !ok {
				return out
			}
			on.Write(b)
			out.Text = on.Text()
			typed(out.Text)
			out.Missing = behind(out.Text, phrases)
			if len(behind(out.Text, phrases[len(phrases)-1:])) == 0 {
				quiet.Reset(patience)
			}
		case <-quiet.C:
			return out
		case <-ctx.Done():
			return out
		}
	}
	return out
}

// patience is how long a client may be silent that has more to show.
const patience = 8 * time.Second

// behind gives the phrases that are not found in their order. Blanks and line
// ends are where the screen likes.
func behind(text string, phrases []string) []string {
	text = dense(text)
	missing := []string{}
	for _, p := range phrases {
		if _, rest, ok := strings.Cut(text, dense(p)); ok {
			text = rest
		} else {
			missing = append(missing, p)
		}
	}
	return missing
}

func dense(s string) string { return strings.Join(strings.Fields(s), "") }
