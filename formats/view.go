package formats

import (
	"runtime"

	"rehome/formats/loss"
	"rehome/formats/store"
)

// SecretMode says what a reader does with secrets.
type SecretMode uint8

const (
	// KeepSecrets yields every byte.
	KeepSecrets SecretMode = iota
	// WithholdSecrets replaces each secret with a fixed marker.
	WithholdSecrets
	// OmitWithheld leaves out what an earlier reader withheld: a store that a
	// client opens must not contain a marker.
	OmitWithheld
)

// View says how to read a store.
type View struct {
	Kind    string // the kind of records to read, by its name; "" is the format's first
	Secrets SecretMode
	Sidecar []store.SidecarItem     // the items of the source's sidecar, restored while reading
	OnOmit  func(store.SidecarItem) // with OmitWithheld: receives each omitted secret, for the sidecar of the target
	// OnLeftover receives what the store holds but records of the kind cannot
	// hold, except secrets that are recognized by their place alone. It goes into
	// the sidecar of the target, and is Build.Leftover on the way back.
	OnLeftover func(store.SidecarItem)
	// RequireRestorable makes reading fail on what can be written as text but not
	// restored from it, while the store still exists.
	RequireRestorable bool
	// HideRowIDs, if set, reports whether to read a table without its row ids.
	HideRowIDs func(set *store.Set) bool
	// Cwd, if set, replaces the project folder of the sessions.
	Cwd string
	// Sessions, if set, are the only sessions to read: a reader of records yields
	// what belongs to them and what that refers to. Formats without Partial ignore
	// it.
	Sessions []string
	OnLoss   loss.Sink    // receives everything that is not carried as it was
	OnNotice func(string) // receives a line about how the source was opened, if that is unusual
	Verbose  bool         // also report what needs no action, such as reading a store in use from a copy
	Live     bool         // read a store in use in place if its client's lock files exist
	Fresh    bool         // text that this process has just written: skip validation, compare digests only
	Jobs     int          // workers; 0 means one per CPU
}

// FullView returns a View that reads everything without a sidecar, and drops what it
// is told.
func FullView(jobs int) View {
	return View{
		Secrets:  KeepSecrets,
		OnOmit:   func(store.SidecarItem) {},
		OnLoss:   func(loss.Loss) {},
		OnNotice: func(string) {},
		Jobs:     jobs,
	}
}

// Workers returns the number of workers that View.Jobs or Build.Jobs asks for.
func Workers(jobs int) int {
	if jobs <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return jobs
}

// Build says what a writer is to create.
type Build struct {
	Path     string // the store to create: nothing exists there yet, but its parent folder does
	Schema   *store.Schema
	Shard    func(set *store.Set, r store.Record) Shard // Records.Shard of Schema.Origin; may be nil
	Lists    []List                                     // Records.Lists of Schema.Origin
	Compress string                                     // "", "gzip" or "zstd"; archives only
	Flat     bool                                       // the client's own few files, not a folder for each session: formats that have both
	Jobs     int                                        // workers; 0 means one per CPU

	// OnSidecar receives each record that the new store cannot hold as it is, to
	// be View.Sidecar when the new store is read as this kind.
	OnSidecar func(store.SidecarItem)
	// Leftover is what View.OnLeftover received in an earlier conversion, from the
	// sidecar of the source.
	Leftover []store.SidecarItem
	// Moved reports that the sessions get another project folder (see View.Cwd):
	// Path is the store itself, and paths in Leftover that lead out of it do not
	// apply.
	Moved bool
	// WithSecrets allows secrets in what OnSidecar receives, which becomes text.
	WithSecrets bool

	OnLoss loss.Sink // receives everything that is not carried as it was
}
