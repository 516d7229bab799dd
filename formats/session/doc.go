// Package session is the common model of coding-agent sessions, whichever store
// they are in: who said what, which tool ran, what it returned, when, with which
// model, and what else the client recorded.
//
// A Session is a head and a stream of messages. A message has to fit in memory, a
// session does not. Turns (a prompt and everything that follows from it) have no
// list of their own: the record of a turn is on its first message, so that a
// session that grows only gets longer at its end.
//
// What the source states is distinguished from what was inferred: a Stamp says
// whether its time was stored, and a Part names its source if that is not the
// main one of its session. What a codec does not convert is carried raw, as
// Extras: nothing is lost without a report. An Account counts the records and
// members that were converted, carried raw or unreadable.
//
// Strings are UTF-8, except that a lone surrogate, which JavaScript strings and
// JSON escapes can contain, is three bytes (ED A0 80 to ED BF BF). A Raw is one
// JSON value without a line break in it.
//
// AppendHead, AppendMessage and AppendFile write the canonical form: one JSON
// object for each line, members in a fixed order, absent if empty. The format
// canonical reads it. Both follow Visit, which lists the members of each record,
// and so does the published schema canonical-1.
package session
