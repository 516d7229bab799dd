// Package write writes sessions of any client as the composers of a new user dir.
//
// # A draft
//
// A session and its subagents are one draft, a folder with two files:
//
//	rows   those of cursorDiskKV, see disk
//	heads  the head of each composer, a line of JSON each
//
// Bubbles and blobs are written as messages come. What needs all of a session is written
// when the family is finished: its record, with the list of its bubbles and the root of
// the agent's state (package agentwrite), which contains those of its subagents.
//
// Join reads many drafts as the tables of one user dir: the global database, and for each
// folder that sessions work in a workspace with its database.
//
// # Twice
//
// The client displays bubbles, and sends the agent's state to the model. Bubbles hold
// less: no context in the words that the model read, and no result but its record. So
// while a composer has the very bubbles that were written, which its member "rehome"
// tells, package read takes the conversation from the state.
package write
