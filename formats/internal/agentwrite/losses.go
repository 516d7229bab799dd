package agentwrite

import (
	"rehome/formats/internal/cursortools"
	"rehome/formats/loss"
)

// Losses lists all that a conversation can report.
func Losses() []loss.Code {
	return append([]loss.Code{loss.BranchLeft, loss.MessageMetadata, loss.PartMetadata, loss.MessageDivided, loss.TurnUnprompted, loss.TurnRecord, loss.SessionMetadata, loss.NoticeSent,
		loss.CallBeforePrompt, loss.SignatureDropped, loss.FileStatesMerged, loss.MessageReordered, loss.PartOpaque, loss.MessageEmpty, loss.ArgumentsRepaired, loss.SystemPromptKept, loss.MessageKept, loss.MessageArchived, loss.TextRepaired, loss.AttachmentRecord, loss.SummaryUnused,
		loss.SummaryUnknown, loss.ThinkingRedacted, loss.ThinkingHidden, loss.ThinkingUnsigned, loss.CallIDChanged, loss.ResultAdded, loss.ResultMoved, loss.ResultFromRecord,
		loss.ResultOrphan, loss.ResultMediaNamed}, cursortools.Losses()...)
}
