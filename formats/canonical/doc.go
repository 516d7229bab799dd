// Package canonical is the format canonical: sessions in the spelling of
// package session, as text that people can read and compare.
//
// # Where it lies
//
//	DIR/<agent>/<id>.jsonl   one session a file, or several one after the other
//	FILE.jsonl               the same, in one file
//
// The first line of a session is its head; then one line follows for each
// message, live branch first, then one for each file that the client kept. The
// schema canonical-1 describes every member.
//
// # What comes back
//
// A session that was encoded decodes to the same session, with these rules
// about what Go can tell apart and the text cannot:
//
//   - Head.Turns and Head.Bytes are not spelled; they come back as -1.
//   - Empty texts, Raws and lists come back as "" and nil, but Media.Data and
//     Body.Bytes, where "nothing in it" is an answer, come back empty and not
//     nil.
//   - A Usage count below zero comes back as -1.
//   - A string that is no UTF-8 comes back with U+FFFD in the place of each bad
//     byte, and two halves of a surrogate pair as the one character they mean.
//
// # What others may add
//
// What stands in a line and is not ours is kept: an unknown member, or one of
// ours in a spelling that is not ours, becomes an Extra of the nearest thing
// that has Extras, named by the path to it ("usage/cost", "repos/0/remote"). Of
// two members of one name the first is read, the others become Extras. A part
// of an unknown type becomes an Opaque. A member of an Opaque goes to its
// message, or to the result it is shown in.
//
// # Quirks
//
//   - A line of more than 128 MB is passed over and noted as unreadable, as are
//     a line that is no JSON object and a last line that breaks off.
//   - A line with the separators U+2028 and U+2029 as they are is read; they
//     are written as escapes.
//   - Parents come before their children, whatever their files are called.
//
// # Not verified
//
//   - Nobody else writes this format.
package canonical
