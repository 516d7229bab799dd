// Package convert converts, migrates, lists and checks stores of sessions.
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
// Check runs the rules of each store's format and changes nothing. Codecs report
// the findings about their stores (see formats.Format.Check). Files beside
// stores, losses in another client, and secrets are checked here, in check_*.go.
package convert
