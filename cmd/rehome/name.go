package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rehome/cmd/rehome/internal/screen"
	"rehome/convert"
	"rehome/formats"
)

// chosen is what a SRC on the command line means: a store or a folder of
// stores, and of the sessions in it the one that is meant.
type chosen struct {
	path    string
	session string // an id; "" for all that is there
	folder  string // that it works in, if it is a session that was looked for
}

// choose finds out what SRC means: a path; path#name, a session in what is
// there; or, where there is no such path, a session of this machine. A session
// is named by its id, the beginning of it, or words of its title; live reads
// stores in use in place to find it.
func (h *house) choose(src string, live bool) (chosen, error) {
	if src == "-" || there(src) {
		return chosen{path: src}, nil
	}
	for at := strings.LastIndex(src, "#"); at > 0; at = strings.LastIndex(src[:at], "#") {
		if there(src[:at]) {
			return h.inside(src[:at], src[at+1:], live)
		}
	}
	_, missing := formats.Locate(src)
	if missing == nil || strings.HasPrefix(src, ".") || strings.ContainsAny(src, `/\`) {
		return chosen{}, missing
	}
	listing, err := h.listing(live)
	if err != nil {
		return chosen{}, missing // there is no home folder to look in
	}
	found := listing.Named(src)
	if len(found) == 0 {
		return chosen{}, &formats.Error{At: src, Err: errors.New("no such file or directory, and no session has that name" + tooShort(src)), Hint: "rehome ls lists the sessions"}
	}
	return only(listing, src, found)
}

// meant is choose, or last where there is no SRC.
func (h *house) meant(src string, newest, live bool) (chosen, error) {
	if newest {
		return h.last(live)
	}
	return h.choose(src, live)
}

// there reports whether a path leads to something, if only to something that
// may not be looked at.
func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil || !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrInvalid)
}

// inside names a session of what is at a path.
func (h *house) inside(path, name string, live bool) (chosen, error) {
	listing, err := convert.List(h.ctx, h.reg, convert.ListOptions{Paths: []string{path}, Live: live, Folders: here()})
	if err != nil {
		return chosen{}, err
	}
	found := listing.Named(name)
	inner := ""
	if len(found) == 0 && name != "" && !strings.Contains(name, " ") { // words are no id
		inner, err = listing.Inside(h.ctx, name, live)
	}
	switch {
	case err != nil:
		return chosen{}, err
	case inner != "":
		return chosen{path: inner, session: name}, nil
	case len(found) > 0:
		return only(listing, name, found)
	case name != "" && len(listing.Sessions) == 0 && len(listing.Unread) > 0:
		return chosen{path: path, session: name}, nil // reading it will tell
	}
	return chosen{}, question(listing, path+"#"+name, "no session in it has that name"+tooShort(name), listing.All())
}

// tooShort says why the beginning of an id may have named nothing.
func tooShort(name string) string {
	if name == "" || len(name) >= convert.ShortestName {
		return ""
	}
	return fmt.Sprintf(" (of an id it takes %d characters at least)", convert.ShortestName)
}

// only is the one session that was found, or the question which one is meant.
func only(l *convert.Listing, name string, found []*convert.Listed) (chosen, error) {
	if len(found) > 1 {
		return chosen{}, question(l, name, fmt.Sprintf("that could be %s", many(int64(len(found)), "session")), found)
	}
	s := found[0]
	c := chosen{path: s.Sources[0].Path, session: s.ID, folder: s.Workspace}
	if l.Alone(s) {
		c.session = "" // the store is the session
	}
	return c, nil
}

// mostAsked is how many sessions a question names.
const mostAsked = 10

// question is the error of a name that means no session or several: a line a
// session, with a name that means only this one.
func question(l *convert.Listing, at, what string, among []*convert.Listed) error {
	hint := "name one by its id, or by the first characters of it"
	if len(among) == 0 {
		hint = "rehome ls " + at[:max(0, strings.LastIndex(at, "#"))] + " lists what is there"
	}
	errs := []error{usageError{&formats.Error{At: at, Err: errors.New(what), Hint: hint}}}
	count := map[string]int{}
	for _, s := range among {
		count[s.ID]++
	}
	for i, s := range among {
		if i == mostAsked {
			errs = append(errs, fmt.Errorf("  and %s more", grouped(int64(len(among)-i))))
			break
		}
		line := "  " + visible(l.Short(s.ID))
		for _, part := range []string{s.Title, s.Workspace} {
			if part != "" {
				line += "  " + screen.Cut(visible(part), screen.PageWidth/2)
			}
		}
		if count[s.ID] > 1 { // then only its place tells it from another
			line += "  " + visible(s.Sources[0].Path)
		}
		errs = append(errs, errors.New(string(line)))
	}
	return errors.Join(errs...)
}

// last is the newest session of the folder that the program was started in, or
// of the nearest one above it that has any.
func (h *house) last(live bool) (chosen, error) {
	wd, err := os.Getwd()
	if err != nil {
		return chosen{}, err
	}
	listing, err := h.listing(live)
	if err != nil {
		return chosen{}, err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		found, _ := listing.Select(convert.ListFilter{Project: dir})
		for i := range found {
			if s := &found[i]; dir == wd || sameFolder(s.Workspace, dir) {
				return only(listing, s.ID, []*convert.Listed{s})
			}
		}
		if dir == filepath.Dir(dir) {
			return chosen{}, &formats.Error{At: wd, Err: errors.New("no session belongs to this folder, or to one above it"), Hint: "rehome ls lists those of all folders"}
		}
	}
}

// sameFolder compares two names of folders, by what is there where they differ.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	return erra == nil && errb == nil && os.SameFile(ia, ib)
}

// here is the working directory, as one that sessions may belong to.
func here() []string {
	wd, err := os.Getwd()
	if err != nil {
		return nil
	}
	return []string{wd}
}

// listing is every session of this machine.
func (h *house) listing(live bool) (*convert.Listing, error) {
	return (&lsCmd{Live: live}).list(h)
}
