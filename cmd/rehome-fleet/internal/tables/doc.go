// Package tables writes sessions of any client as Parquet tables, for SQL over many
// machines and for data sets. It only writes them: nothing is converted back.
//
//	sessions      one row for each session, with its counts and sums
//	turns         a prompt and everything that follows from it: model, usage, duration
//	messages      what was said, with the number of its turn
//	tool_calls    calls of tools, each with the status of its result
//	tool_results  what the tools returned
//	losses        what is not in the tables as it was in the store, by session and code
//
// Every row has the columns of Origin. Rows are sorted by session, and then as in the
// session. A value that the store does not state is NULL.
//
// # What is not in the tables
//
// Content of images and files, snapshots of files, todo lists, plans, signatures of
// reasoning, and everything that rehome carries
// without understanding it. The table sessions counts most of them. Keys and tokens that
// rehome knows by their place are left out, as in all text; Options.Redact finds
// others. A lone surrogate becomes U+FFFD, which is in the table losses. A time outside
// of the years 1 to 9999 is NULL, see Session.InvalidTimes.
//
// # Without text
//
// With Options.NoText, the columns that can hold what somebody wrote, or paths, are NULL:
// those with the tag `private`. The tag `bare` says what the others hold:
//
//	name   a client, role, mode, status or tool of words.txt, "mcp" for a tool of an MCP
//	       server, or "other"
//	model  a model whose name consists of words of models.txt and versions, or "other"
//	id     an id that looks like those that programs make, or NULL
//	own    a word of rehome's, or what the caller gave: machine and unit
//
// An id of a session that looks otherwise is replaced by "session-" and a number, which
// holds only in these files.
//
// # Stability
//
// The same sessions give the same bytes. The schemas parquet-*-1 describe the columns. A
// new column does not change their version.
package tables
