// Package agentstate reads the state of a Cursor agent: a graph of blobs, each
// named by the SHA-256 of its bytes, that the CLI's chats, the SDK's agents and
// the IDE's composers share. It knows nothing of where blobs lie.
//
// # The graph
//
//	root (ConversationStateStructure)
//	  1      prompt messages, JSON: what the model sees now
//	  8      turns -> a user's message, steps: text, thinking, tool calls
//	  11 13  archives -> prompt messages that were compacted, a summary
//	  4      messages, JSON in the root itself: as a rule one whose calls wait
//	  3 6 7  todos, summary, plan
//	  12 15  files before and after
//	  16 31  subagents: their roots, inline or as blobs
//
// What a blob is follows from who refers to it, never from its bytes: files lie
// among messages. Stores of 2025 have field 1 only, and in some of them it leads
// to links: blobs of more such references, perhaps with a message behind them.
//
// # The join
//
// The turns are the spine. Prompt messages add what they alone know: the system
// prompt, context, signatures, the tools' names as the model called them, what
// it was shown of a result; and whatever the turns do not have at all, marked
// as coming from "prompts". Both are outlined first (outline.go: kinds, hashes,
// ids, no content), the outlines are tied together (align.go) and made into a
// plan of messages (plan.go, answer.go); only then is content read again,
// message by message. All of it is linear, and holds one message at a time.
//
// # Accounts
//
// A blob that is reached is understood, carried raw, or unreadable and noted;
// one that is missing is noted by its address. Each field and member is taken or
// in Extras. Blobs come from strangers: their references may be missing, false,
// circular or so many that they multiply, and what a reader pays for that is
// bounded.
package agentstate
