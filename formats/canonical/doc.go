// Package canonical is the format canonical: sessions as JSON Lines in the
// encoding of package session, as text that people can read and compare.
//
// # Where it lives
//
//	DIR/<agent>/<id>.jsonl   one session per file, or several in sequence
//	FILE.jsonl               the same, in one file
//
// The first line of a session is its head. One line per message follows, the
// live branch first, then one line per file that the client kept. The schema
// canonical-1 describes every member.
//
// Unreleased builds also wrote *.jsonl.sidecar.ndjson, the states of Cursor's agents. They
// are ignored: what is restored is what the text says, because that is what people review.
//
// # What comes back
//
// A session decodes to the same session that was encoded, except where Go
// distinguishes values that the text cannot:
//
//   - Head.Turns and Head.Bytes are not written; they come back as -1.
//   - Empty texts, Raws and lists come back as "" and nil. Media.Data and
//     Body.Bytes come back empty but not nil, because "empty" is a value there.
//   - A negative Usage count comes back as -1.
//   - In a string that is not valid UTF-8, each invalid byte comes back as
//     U+FFFD. Two halves of a surrogate pair come back as the character they
//     encode.
//
// # What others may add
//
// Anything in a line that this format does not define is kept. An unknown
// member, or a known one with a value of the wrong form, becomes an Extra of the
// nearest value that has Extras, named by its path ("usage/cost",
// "repos/0/remote"). Of two members with the same name the first is read and the
// others become Extras. A part of an unknown type becomes an Opaque. A member of
// an Opaque becomes an Extra of its message, or of the tool result that
// contains it.
//
// # Quirks
//
//   - A line longer than 128 MB is skipped and noted as unreadable. So are a
//     line that is not a JSON object and an incomplete last line.
//   - Raw U+2028 and U+2029 separators in a line are accepted; they are written
//     as escapes.
//   - Subagents follow their parents, whatever their files are named.
//
// # Not verified
//
//   - No other program is known to write this format.
package canonical
