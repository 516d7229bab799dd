package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
		return chosen{}, &formats.Error{At: src, Err: errors.New("no such file or session" + tooShort(src)), Hint: "run `rehome ls` to list sessions"}
	}
	return h.only(listing, src, found)
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
		return h.only(listing, name, found)
	case name != "" && len(listing.Sessions) == 0 && len(listing.Unread) > 0:
		return chosen{path: path, session: name}, nil // reading it will tell
	}
	return chosen{}, h.question(listing, path+"#"+name, "no such session in it"+tooShort(name), listing.All())
}

// tooShort says why the beginning of an id may have named nothing.
func tooShort(name string) string {
	if name == "" || len(name) >= convert.ShortestName {
		return ""
	}
	return fmt.Sprintf(" (id prefixes need at least %d characters)", convert.ShortestName)
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
				return h.only(listing, s.ID, []*convert.Listed{s})
			}
		}
		if dir == filepath.Dir(dir) {
			return chosen{}, &formats.Error{At: wd, Err: errors.New("no session belongs to this folder or a parent of it"), Hint: "run `rehome ls` to list all sessions"}
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
