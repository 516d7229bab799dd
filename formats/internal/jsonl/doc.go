// Package jsonl is what codecs of JSON lines have in common: it is to lines what
// sqlitestore is to SQLite databases.
//
// A format describes in a [Layout] which files of a folder hold its sessions. [Open]
// finds these files, sorts them, and sets aside older copies of a session. [Each] goes
// through them, for Decode and for Heads; [Store.Check] applies the rules of lines to
// them. [Store.Lines] yields the lines of a file, each parsed as a JSON object or with
// the reason why it is unreadable, and [Line.Account] counts and reports the latter.
// [Store.Ends] reads what a list needs.
package jsonl
