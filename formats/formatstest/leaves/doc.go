// Package leaves tests that a codec's reader forgets nothing, without trusting the codec.
//
// A Walk reads a store a second time, with none of the codec's code, and yields the leaves of
// each record: every string, number, boolean and run of bytes with the path it is at. Each of
// them must be found in what the codec decoded: in a message whose Origin names that record,
// in a turn or in the head of the session. Each occurrence counts once. A leaf that is not there
// must be covered by a declaration, which says why. The declarations of a codec are a text
// beside it, leaves.txt, see ParseDeclared. They are held to account, too: the law recomputes
// what is derived, looks for what is superseded, and fails on a declaration that covers nothing.
//
// A Writer tests the same of a writer: the leaves of sessions are looked for in what it writes, and
// whatever else is there must be declared as invented.
package leaves
