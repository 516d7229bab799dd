// Package lineclient makes a whole format of what is to be known of a client whose sessions
// are files of JSON lines: where the files are, which line names the session, which members
// all lines have, and what becomes of each kind of line. See [Client].
//
// A file is read twice. The first pass keeps of each line less than 100 bytes: its id, that
// of its parent, its place and its kind; and of each prompt the turn that begins with it.
// From these follow the conversation that the client continues, what was compacted, and the
// branches that were left. The second pass makes the messages. Neither holds more than one
// message.
//
// What no function of the table asks for is carried as an extra, and a line of a kind that
// is not in the table as an opaque part. Each line is in the account once.
package lineclient
