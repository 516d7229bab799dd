// Package sdkdoc is the normal form of the Cursor SDK's stores: four kinds of
// documents (agents, runs, events, checkpoints), one JSON object each, as the
// SDK's own line store writes them, and the database rows that say the same.
//
// It goes both ways. Append makes the line of a row, Parser.Parse the row of a
// line. The document is the larger of the two: a line can hold members that a
// row has no column for, a row can hold hardly anything that a line cannot
// say. Whatever is nested in a line (payload, usage, metadata, parameters) is
// spliced in and out byte by byte and never encoded again.
//
// One table says all that is known of a kind: its columns, its members, and the
// Form in which a line spells each column. ReadAgent, ReadRun and EventDoc read
// a line as a typed document, for sessions.
//
// Neither way is a bijection, so each says what it did not carry. Append names
// the cells that its line would not give back; Parse compares the line with
// the one its own row would give (Fit). What differs is for a sidecar; deciding
// where to keep it is not done here, and neither are files: the package knows
// cells and bytes, so that other stores of the same documents can use it.
package sdkdoc
