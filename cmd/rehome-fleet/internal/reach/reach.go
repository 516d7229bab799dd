// Package reach lets rehome's commands take addresses of stores on servers where they take
// paths. What they read is fetched to a private copy first, what they write is placed from
// one last, and their output names the server.
package reach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/cmd/internal/cli"
	"rehome/cmd/internal/screen"
	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/internal/scratch"
)

// Open opens the home that an address names. It does not connect yet.
type Open func(address string) (home.Home, error)

// target is the argument whose last word names what these commands write; "" = they write no store.
func target(command string) (argument string, known bool) {
	argument, known = map[string]string{
		"convert": "dst", "redact": "dst", "repair": "dst", "merge": "src... out",
		"check": "", "detect": "", "diff": "", "ls": "", "migrate": "", "search": "", "show": "",
	}[command]
	return argument, known
}

// Run is cli.Run for a program whose arguments may be addresses. homes are by their schemes.
func Run(ctx context.Context, p cli.Program, homes map[string]Open, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	is := func(word string) bool {
		scheme, _, ok := strings.Cut(word, "://")
		return ok && homes[scheme] != nil
	}
	if !slices.ContainsFunc(args, is) {
		return cli.Run(ctx, p, args, stdout, stderr, getenv)
	}
	command, arguments := p.Arguments(args)
	writes, known := target(command)
	if !known {
		return cli.Run(ctx, p, args, stdout, stderr, getenv) // the command knows what to do with addresses, or says so
	}
	scratch.Sweep()
	dir, err := scratch.New("", "home")
	if err != nil {
		return p.Fail(&formats.Error{At: os.TempDir(), Err: err, Hint: "stores on servers are copied here; set TMPDIR to use another folder"}, args, stdout, stderr, getenv)
	}
	defer func() { _ = dir.Remove() }()
	r := &run{name: p.Name, dir: dir.Path, homes: homes, args: slices.Clone(args), stderr: stderr, getenv: getenv}
	if words := arguments[writes]; len(words) > 0 && is(words[len(words)-1]) {
		err = r.aim(command, words[len(words)-1])
	}
	for i, word := range r.args {
		if err == nil && is(word) && (command != "search" || args[i-1] == "--path") { // others are words to search for
			r.args[i], err = r.fetch(ctx, word)
		}
	}
	if err == nil && r.to != nil && r.to.Format() == documents {
		err = r.keepKeys(ctx, p)
	}
	if err != nil {
		r.sayLosses("not read: ", r.lost.Groups())
		return p.Fail(err, args, stdout, stderr, getenv)
	}
	return r.run(ctx, p, command, stdout, stderr, getenv)
}

// documents is the format of homes for documents of the Cursor SDK.
const documents = "cursor-ndjson"

// keepKeys makes an exact conversion to documents keep the keys of agents: a home is a store
// that they go on in, and not text to share. Other conversions know no keys.
func (r *run) keepKeys(ctx context.Context, p cli.Program) error {
	command, arguments := p.Arguments(r.args)
	if command != "convert" || len(arguments["src"]) != 1 || slices.Contains(r.args, "--by-session") {
		return nil
	}
	from, err := formatOf(ctx, arguments["src"][0])
	if err == nil && (from == documents || from == "cursor-sdk") {
		r.args = slices.Insert(r.args, slices.Index(r.args, command)+1, "--with-secrets")
	}
	if errors.Is(err, fs.ErrNotExist) { // a session on this machine, or an error of the command
		return nil
	}
	return err
}

// run is one run of a command.
type run struct {
	dir   string
	homes map[string]Open
	args  []string
	names []rename
	name  string // of the program

	stderr io.Writer
	getenv func(string) string

	lost loss.Log  // of what was fetched
	to   home.Home // nil if nothing is placed
	path string    // of what is placed
}

// open opens a home, and chooses the path of its private copy.
func (r *run) open(address string) (home.Home, string, error) {
	scheme, _, _ := strings.Cut(address, "://")
	h, err := r.homes[scheme](address)
	if err != nil {
		return nil, "", cli.Usage(err)
	}
	path := filepath.Join(r.dir, fmt.Sprint(len(r.names)), "store")
	r.names = append(r.names, rename{[]byte(path + ".sidecar.ndjson"), []byte(h.Name() + " too")}, rename{[]byte(path), []byte(h.Name())})
	return h, path, os.Mkdir(filepath.Dir(path), 0o700)
}

// fetch copies a home, and returns the argument for the copy.
func (r *run) fetch(ctx context.Context, word string) (string, error) {
	address, session, named := strings.Cut(word, "#")
	if strings.Contains(session, "@") { // a # in a password: what is before it is not the server
		return "", cli.Usage(&formats.Error{At: "address", Err: errors.New("a password with #"), Hint: "write it as %23, or keep the password out of the address"})
	}
	h, path, err := r.open(address)
	if err != nil {
		return "", err
	}
	if l, ok := h.(home.Loser); ok {
		l.OnLoss(r.lost.Add)
	}
	if err := h.Fetch(ctx, path); err != nil {
		return "", formats.ReplacePath(err, path, h.Name())
	}
	if named {
		path += "#" + session
	}
	return path, nil
}

// aim makes a home the target of a command.
func (r *run) aim(command, address string) error {
	for _, word := range r.args {
		switch flag, _, _ := strings.Cut(word, "="); {
		case flag == "--update":
			return cli.Usage(&formats.Error{Err: errors.New("--update: not for stores on servers"), Hint: "pass --replace; the old store is kept"})
		case flag == "--to":
			return cli.Usage(&formats.Error{Err: errors.New("--to cannot be combined with the address of a server"), Hint: "omit it: the address decides the format"})
		}
	}
	h, path, err := r.open(address)
	if err != nil {
		return err
	}
	r.to, r.path = h, path
	last := len(r.args) - 1
	for r.args[last] != address {
		last--
	}
	r.args[last] = path
	if command != "convert" {
		return nil
	}
	flags := []string{"--to", h.Format()}
	if h.Format() == documents {
		flags = append(flags, "--flat")
	}
	r.args = slices.Insert(r.args, slices.Index(r.args, command)+1, flags...)
	return nil
}

// run runs the command, and places what it wrote. convert reports that; the output of others waits
// until it is done.
func (r *run) run(ctx context.Context, p cli.Program, command string, stdout, stderr io.Writer, getenv func(string) string) int {
	var waiting bytes.Buffer
	out, messages := &renamer{to: stdout, names: r.names}, &renamer{to: stderr, names: r.names}
	after := r.to != nil && command != "convert"
	switch {
	case command == "convert":
		p.Read = r.lost.Groups()
	default:
		r.sayLosses("not read: ", r.lost.Groups())
	}
	switch {
	case after:
		out.to = &waiting
	case r.to != nil:
		p.Place = r.place
	}
	code := cli.Run(ctx, p, r.args, out, messages, getenv)
	err := errors.Join(out.flush(), messages.flush())
	switch _, missing := os.Lstat(r.path); {
	case err != nil || !after || missing != nil:
	case code != 0 && code != 3 && (code != 4 || command != "repair"): // a repaired copy may have problems left
		r.say(r.to, "nothing was placed")
	default:
		var lost []loss.Group
		var backup string
		backup, err = r.place(ctx, func(groups []loss.Group) error { lost = groups; return nil })
		if err == nil {
			r.sayLosses("", lost)
		}
		if err == nil && backup != "" {
			r.say(r.to, "the old store is kept as "+backup)
		}
	}
	if err != nil {
		return p.Fail(err, r.args, stdout, stderr, getenv)
	}
	if _, err := stdout.Write(waiting.Bytes()); err != nil {
		return p.Fail(err, r.args, stdout, stderr, getenv)
	}
	return code
}

// place places what the command wrote, if it is what the home holds.
func (r *run) place(ctx context.Context, accept func([]loss.Group) error) (backup string, err error) {
	if f, err := formatOf(ctx, r.path); err != nil {
		return "", err
	} else if !r.to.Many() && f == "" {
		return "", &formats.Error{At: r.to.Name(), Err: errors.New("nothing placed: the source is a folder of stores, and an address holds one"), Hint: "name one of its stores; `rehome-fleet detect` lists them"}
	} else if !r.to.Many() && f != r.to.Format() {
		return "", &formats.Error{At: r.to.Name(), Err: fmt.Errorf("nothing placed: the result is a %s store, and the address holds %s", f, r.to.Format()), Hint: "write to a folder first, then run `rehome-fleet convert FOLDER ADDRESS`"}
	}
	o := home.PlaceOptions{Replace: r.has("--replace"), Lost: accept}
	draw, end := cli.Progress(r.has("--quiet") || r.has("-q"), r.stderr, r.getenv)
	if draw != nil {
		o.Progress = func(done, of int64) {
			draw(convert.Progress{Stage: "writing", Store: r.to.Name(), Done: done, Total: of})
		}
	}
	placed, err := r.to.Place(ctx, r.path, o)
	end()
	if err != nil {
		return "", formats.ReplacePath(err, r.path, r.to.Name())
	}
	if placed.Warning != "" {
		r.say(r.to, placed.Warning)
	}
	if placed.Hidden > 0 {
		r.say(r.to, string(screen.Plural(placed.Hidden, "line"))+" that clients do not see, kept for the way back")
	}
	return placed.Backup, nil
}

// sayLosses writes losses to stderr, even if the command is to be quiet: its report has no
// place for them.
func (r *run) sayLosses(lead string, groups []loss.Group) {
	for _, g := range groups {
		r.line(fmt.Sprintf("%s%s: %d %s (%s), first at %s", lead, g.Kind, g.Count, g.What, g.Code, g.Places[0]))
	}
}

// say writes a line about a home to stderr, unless the command is to be quiet.
func (r *run) say(h home.Home, line string) {
	if !r.has("--quiet") && !r.has("-q") {
		r.line(h.Name() + ": " + line)
	}
}

func (r *run) line(text string) { fmt.Fprintf(r.stderr, "%s: %s\n", r.name, screen.Visible(text)) }

// has reports whether a flag without a value is set.
func (r *run) has(flag string) bool {
	return slices.ContainsFunc(r.args, func(word string) bool { return word == flag || word == flag+"=true" })
}

// formatOf returns the name of the format of a store, "" if there is none at path.
func formatOf(ctx context.Context, path string) (string, error) {
	l, err := formats.Locate(path)
	if err != nil {
		return "", err
	}
	found, err := all.Registry().Detect(ctx, l)
	if err != nil || len(found) == 0 || found[0].Score <= formats.Guess {
		return "", err
	}
	return found[0].Format.Name, nil
}
