// Package doctor reports what the clients of a machine keep, and where their data
// differs from what this version of rehome knows: schema drift.
//
// A codec carries what it does not know, so everything unknown is in the model: as
// an Extra, an Opaque part, the name of a tool, or a field of protobuf that has only
// a number. Run decodes every session and counts these by name. What the model does
// not cover, tables, columns and kinds of rows, comes from the rules of `rehome
// check` about what is unknown.
//
// Much of what is carried raw is well known: no other client has a place for it. A
// name is drift only if it is neither in the published schemas of the format nor in
// known.txt, which lists what the tested versions write.
//
// A report is made to be pasted into an issue. It has names of fields, types and
// tools, versions and counts, and nothing else of any session: no values, no paths,
// and no name that does not look like an identifier.
package doctor
