// Package convert converts stores of sessions, and migrates sessions to other clients.
//
// The two formats decide how a store is converted. Related formats (see
// formats.Related) convert exactly: records are copied, the result is read again
// and compared with the source, and only then is it placed. All other pairs convert
// session by session through the common model of package session, with a report of
// the losses: package pipe takes each session from the decoder to a verified draft.
//
// A conversion has these steps, and stops at the first one that fails:
//
//	paths    resolve source and target; they must not overlap
//	plan     find the stores in the source, and the format for each
//	staging  create a private folder beside the target, on the same disk
//	convert  for each store: read, write, close the source, read again, compare
//	sync     flush everything staged to disk
//	place    the sidecar first, then one rename that cannot overwrite anything
//
// Until the last rename, nothing has the target's name. Each store is placed
// completely or not at all: in a folder of many, a bad one is left out and
// reported, and the others are placed.
//
// Migrate takes the same way with another destination: each session is placed with
// its subagents where its new client looks for it, unless something else is there.
//
// # Packages
//
// From the bottom up:
//
//	internal/stage    targets, built under temporary names and renamed into place
//	internal/workers  work in parallel, bounded by open files
//	internal/notify   progress and remarks, one at a time
//	internal/walk     the one walk over folders, for all that look for stores
//	internal/ignore   what a walk skips: --exclude, .rehomeignore, .gitignore
//	internal/sidecar  the sidecars of source and target, and their text
//	internal/pipe     sessions from a decoder to a writer, each checked and verified
//	internal/leaks    the scanner for secrets
//	sessions          lists of sessions; the folders of sessions without one
//	search            Run: sessions by what was said in them
//	convert           this package: Convert and Migrate
//	check             Check: rules, baselines, secrets
//	repair            Repair: a copy of stores, in which what check finds is repaired
//	merge             Run: stores of several people, united
//	watch             Run: Convert with Options.Update, whenever the source changes
//	backup            Run: snapshots of all stores of a machine; Restore
package convert
