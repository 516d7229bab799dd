// Package jsonl is what codecs of JSON lines have in common: it is to lines what
// sqlitestore is to SQLite databases.
//
// A format describes in a [Layout] which files of a folder hold its sessions. [Open]
// finds these files, sorts them, and sets aside older copies of a session. [Each] goes
// through them, for Decode and for Heads. [Store.Lines] yields the lines of a file,
// each as the JSON object that it is or with the reason why it is none, and
// [Line.Account] counts and reports those that cannot be read. [Store.Ends] reads what
// a list needs.
package jsonl
