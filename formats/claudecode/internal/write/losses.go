package write

import "rehome/formats/loss"

// Losses returns what a sink can report.
func Losses() []loss.Code {
	return []loss.Code{
		loss.TitleFromPrompt, loss.ArgumentsDropped, loss.ToolUnknown, loss.ArgumentsRepaired, loss.ArgumentsRenamed, loss.ToolRenamed, loss.CallIDChanged, loss.ArgumentLeft, loss.FolderInCommand, loss.ToolNameChanged, loss.ResultMediaMoved,
		loss.ResultAdded, loss.ResultMoved, loss.ResultFromRecord, loss.ErrorTextAdded, loss.ResultMediaNamed, loss.ResultOrphan,
		loss.PartUntranslatable, loss.BranchNotice, loss.SystemPromptUnsent, loss.SummaryUnused, loss.SummaryUnknown,
		loss.TimeUnknown, loss.TimeOutOfRange, loss.TimeBackwards, loss.FirstPromptAdded, loss.BranchCopied, loss.BranchHidden,
		loss.SessionEmpty, loss.TodosAside, loss.PlanAside, loss.MetadataAside, loss.SnapshotDropped, loss.TurnAbandoned, loss.TurnRecord, loss.MessageMetadata, loss.PartMetadata,
		loss.BlankText, loss.AttachmentRecord, loss.FileInlined, loss.MediaNamed, loss.MediaMissing, loss.AnswerImage,
		loss.ThinkingUnsigned, loss.ThinkingAsText, loss.ThinkingHidden, loss.ThinkingRedacted,
	}
}
