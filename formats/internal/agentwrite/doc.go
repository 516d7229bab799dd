// Package agentwrite writes sessions of any client as the state of a Cursor agent: the
// graph of blobs that package agentstate reads.
//
// Each message is written twice, as Cursor does: as a prompt message, which is what the
// model sees, and as the steps of its turn, which is what the client shows. Package
// agentstate joins both again. Whatever has only one of the two forms is written once: a
// system prompt is no step, and an answer before the first prompt belongs to no turn.
//
// # Results
//
// A model's API requires the results of calls right after their message, and Cursor keeps
// a result in the step of its call. So places for the results are reserved when a call is
// written, and filled when they come: in the order in which they come, as long as nothing
// else comes between. A turn is stored when all of its calls have results.
//
// # The mark
//
// What reading would not tell from other things is said in providerOptions.rehome, which
// only rehome reads: the tag of context that Cursor has no tag for, the time of a message
// without timed steps, the order of the parts of a prompt. See agentstate.MarkName.
//
// # What came from Cursor
//
// The state that a session was decoded from is copied, blob by blob, if nothing asks for
// another: see session.Graph. If it is encoded again, Extras go back into the fields and
// members that they are named after.
//
// # Abandoned turns
//
// They are not written: see loss.BranchLeft.
package agentwrite
