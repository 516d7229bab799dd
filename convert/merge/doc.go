// Package merge unites stores in which several people, or machines, continued sessions.
//
// Stores are united session by session, as text; formats.Merge says what the files of a
// format hold. Of one session that several sources have,
//
//   - copies that are equal become one,
//   - a copy that another one continues becomes that one,
//   - copies that were continued differently become the session and its forks.
//
// A fork is a copy under another id. One line of both continuations would be a
// conversation that nobody had. Which copy keeps the id depends on nothing but the first
// record in which they differ: neither on the order of the sources, nor on what follows.
// The id of the fork is made from the session's and from that record. So what was merged
// can be merged again, with later copies of the same sources, and no fork appears twice.
//
// The result is written to a private folder beside the target, read again, and placed by
// one rename. Sources are only read.
package merge
