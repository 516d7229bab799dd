// Package agentstate reads the state of a Cursor agent: a graph of blobs, each named by the
// SHA-256 of its bytes, that CLI chats, SDK agents and IDE composers share. Its callers know
// where blobs are stored.
//
// # The graph
//
//	root (ConversationStateStructure)
//	  prompts    JSON messages: what the model sees now
//	  turns      -> a user message; steps: text, thinking, tool calls
//	  archives   -> prompt messages that were compacted, a summary
//	  pending    JSON messages in the root itself, usually calls without a result yet
//	  todos, summary, plan
//	  files      before and after
//	  subagents  their roots, inline or as blobs
//
// What a blob is follows from the field that refers to it, never from its bytes: files are
// stored among messages. The table of messages in package wire says what each ref leads to;
// tables.go binds its messages to structs, which are decoded and encoded. Stores of 2025 have
// only prompts, and in some of them a reference leads to a link: a blob of more references,
// perhaps followed by a message.
//
// # The join
//
// The turns are the backbone. Prompt messages add what only they hold: the system prompt,
// context, signatures, the names of tools as the model called them, the results as the model
// saw them; and whatever the turns lack altogether, marked as coming from "prompts". Both are
// outlined first (outline.go: kinds, hashes and ids, but no content), the outlines are aligned
// (align.go) and become a plan of messages (plan.go, answer.go); only then is content read
// again, message by message. All of this takes linear time, and holds one message at a time.
//
// # Accounts
//
// A blob that is reached is understood, kept raw, or noted as unreadable; a missing one is
// noted with its address. Each field and member is taken or kept in Extras. Blobs are untrusted
// input: references may be missing, false, circular, or so many that they multiply, so the
// reader bounds its work.
package agentstate
