// Package rule is what `rehome check` asks of a store: the closed list of
// rules, and how a codec tells what it found.
//
// A rule is a row of the tables in rules/*.txt, never code: what it is called,
// how bad a breach of it is, which formats it is asked of, why it matters and
// how to mend it. The documentation, --rules and --explain print these rows. A
// codec's Check walks its store once and reports each breach by the rule's id:
//
//	q.Breach("RH330", addr, "bubble %q", id)
//
// The first digit of an id is its layer: 1 container, 2 schema, 3 references,
// 4 meaning, 5 secrets. An id is never given a second meaning.
package rule
