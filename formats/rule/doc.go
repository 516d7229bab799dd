// Package rule is the closed list of rules that `rehome check` applies to a
// store, and the form in which a codec reports its findings.
//
// A rule is a row of the tables in rules/*.txt, never code: its title, severity
// and formats, what the client does about the problem, and the next step. The
// documentation, --rules and --explain print these rows. A codec's Check walks
// its store once and reports each finding by the rule's id:
//
//	q.Reportf("RH330", addr, "bubble %q", id)
//
// The words of a rule or a finding may change with every version; its id,
// address, pointer and arguments identify it.
//
// The first digit of an id is its layer: 1 container, 2 schema, 3 references,
// 4 meaning, 5 secrets. An id is never given a second meaning.
package rule
