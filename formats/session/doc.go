// Package session is the upper floor of the house: what a coding agent's
// session means, whichever store it lies in. Who said what, which tool ran,
// what came of it, when, by which model, and what the client knew besides.
//
// A Session is a head and a stream of messages. It need not fit in memory: one
// message does. A turn (a prompt and all that came of it) has no list of its
// own; its record stands on the message it begins with, so that a session that
// grows only gets longer at its end.
//
// Everything is told apart from what was worked out: a Stamp says whether its
// time was stored, a Part says where it came from if that is not the store's
// own spine. What a codec did not claim rides along as Extras, raw: nothing is
// left behind in silence. The Account says how many records and members were
// claimed, carried as they are, or could not be read.
//
// Strings are UTF-8; the lone surrogates that JavaScript's strings can hold
// stand as three bytes each (ED A0 80 to ED BF BF), as JSON can spell them. A
// Raw is one JSON value without a line end in it.
//
// AppendHead, AppendMessage and AppendFile are the canonical spelling: one
// JSON object a line, members in a fixed order, absent when empty. The format
// canonical reads it back, and its schema describes every member.
package session
