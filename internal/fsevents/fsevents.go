// Package fsevents reports that entries of some folders may have changed. It is the
// only user of the library that gets these events from the operating system.
//
// An event does not say what changed: events can be lost, merged or late on every
// system, so the receiver has to look anyway. What the system cannot watch is
// returned, so that the receiver looks there from time to time.
package fsevents

import (
	"errors"
	"io/fs"

	"github.com/fsnotify/fsnotify"
)

// Folder is a folder to watch.
type Folder struct {
	Path    string
	Entries int // number of entries
}

// Coverage is the result of Watch.
type Coverage struct {
	Added   bool  // a folder is watched that was not before; what changed in it until now made no event
	Missing int   // number of folders without reliable events
	Err     error // why, if the system is the reason; else it is the bound of this package
}

// Errors of Coverage.
var (
	ErrLimit  = errors.New("the limit of the operating system on watched folders is reached")
	ErrRemote = errors.New("the file system does not report what other machines change")
)

// maxWatches bounds the folders that are watched, or the files in them where the
// system needs an open file for each.
const maxWatches = 1024

// Watcher watches folders.
type Watcher struct {
	lib     *fsnotify.Watcher
	changed chan struct{}
}

// New returns a Watcher without folders. Close it after use.
func New() (*Watcher, error) {
	lib, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{lib: lib, changed: make(chan struct{}, 1)}
	go w.forward()
	return w, nil
}

// forward turns events and errors, such as an overflow of the system's queue, into
// one value in w.changed, until the library is closed.
func (w *Watcher) forward() {
	events, errs := w.lib.Events, w.lib.Errors
	for events != nil || errs != nil {
		var open bool
		select {
		case _, open = <-events:
			if !open {
				events = nil
			}
		case _, open = <-errs:
			if !open {
				errs = nil
			}
		}
		if open {
			select {
			case w.changed <- struct{}{}:
			default: // nobody has looked since the last event
			}
		}
	}
}

// Changed returns a channel with a value in it if something has changed since the
// last value was received.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Watch sets the folders to watch, the most important first. A folder is watched
// without the folders in it.
func (w *Watcher) Watch(folders []Folder) Coverage {
	var c Coverage
	chosen := choose(folders, maxWatches)
	c.Missing = len(folders) - len(chosen)
	wanted, watched := map[string]bool{}, map[string]bool{}
	for _, f := range chosen {
		wanted[f.Path] = true
	}
	for _, path := range w.lib.WatchList() {
		if watched[path] = true; !wanted[path] {
			w.lib.Remove(path) // an error says that it is no longer watched
		}
	}
	for i, f := range chosen {
		// Again, even if it is watched: another folder may have its name by now.
		err := w.lib.Add(f.Path)
		switch {
		case err == nil && isRemote(f.Path):
			c.Missing++
			c.Err = ErrRemote
		case err == nil, errors.Is(err, fs.ErrNotExist):
		case limitReached(err):
			c.Missing, c.Err = c.Missing+len(chosen)-i, ErrLimit
			return c
		default:
			c.Missing++
			c.Err = err
		}
		c.Added = c.Added || err == nil && !watched[f.Path]
	}
	return c
}

// choose returns the first folders whose watches cost no more than a bound in
// total. A folder that is too large by itself is left out.
func choose(folders []Folder, bound int) []Folder {
	var chosen []Folder
	for _, f := range folders {
		cost := 1
		if filesOpened {
			cost += f.Entries
		}
		if cost <= bound {
			chosen, bound = append(chosen, f), bound-cost
		}
	}
	return chosen
}

// Close ends the watching.
func (w *Watcher) Close() error { return w.lib.Close() }
