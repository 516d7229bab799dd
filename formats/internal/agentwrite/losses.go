package agentwrite

import (
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
)

// Losses lists all that a conversation can report.
func Losses() []loss.Code {
	return append([]loss.Code{
		loss.BranchLeft, loss.MessageMetadata, loss.PartMetadata, loss.MessageDivided, loss.MessageEmpty, loss.MessageKept, loss.MessageArchived, loss.MessageReordered,
		loss.TurnUnprompted, loss.TurnRecord, loss.SessionMetadata, loss.NoticeSent, loss.SystemPromptKept, loss.SummaryUnused, loss.SummaryUnknown, loss.FileStatesMerged,
		loss.PartOpaque, loss.TextRepaired, loss.AttachmentRecord, loss.ThinkingRedacted, loss.ThinkingHidden, loss.ThinkingUnsigned, loss.SignatureDropped,
		loss.CallBeforePrompt, loss.CallIDChanged, loss.ArgumentsRepaired, loss.ResultAdded, loss.ResultMoved, loss.ResultFromRecord, loss.ResultOrphan, loss.ResultMediaNamed,
		loss.LinkDropped,
	}, cursortools.Losses()...)
}
