package shape

import (
	"iter"

	"rehome/formats/internal/object"
	"rehome/internal/rawjson"
)

// The members of a line, as indices of Line and Names.
const (
	Parent = iota
	Side
	Type
	Message
	UUID
	Time
	UserType
	Entrypoint
	Cwd
	Session
	Version
	Branch
	Result
	Source
	Meta
	Attached
	Rendered
	Subtype
	Content
	Summary
	Visible
	Agent
	Logical // the first that no message is made of
	Typed
	Compaction
	APIError
	Own
	count
)

// Names are the names of the members of a line.
var Names = [count]string{Parent: "parentUuid", Side: "isSidechain", Type: "type", Message: "message", UUID: "uuid", Time: "timestamp",
	Session: "sessionId", Cwd: "cwd", Version: "version", Branch: "gitBranch", UserType: "userType", Entrypoint: "entrypoint",
	Result: "toolUseResult", Source: "sourceToolAssistantUUID", Meta: "isMeta", Attached: "attachment", Rendered: "rendered",
	Subtype: "subtype", Content: "content", Summary: "isCompactSummary", Visible: "isVisibleInTranscriptOnly", Agent: "agentId",
	Logical: "logicalParentUuid", Typed: "promptSource", Compaction: "compactMetadata", APIError: "isApiErrorMessage", Own: "rehome"}

// Foreign are the members before Logical that mean nothing on a line of a kind.
var Foreign = [Progress + 1][]int{
	User:       {Attached, Rendered, Subtype, Content},
	Assistant:  {Attached, Rendered, Subtype, Content, Meta, Result, Source, Summary, Visible},
	System:     {Attached, Rendered, Result, Source, Summary, Visible, Message},
	Attachment: {Message, Subtype, Content, Meta, Result, Source, Summary, Visible},
	Progress:   {Attached, Rendered, Result, Source, Summary, Visible, Message},
}

// Line is a line, taken apart: the value of each of its members, nil if it is missing. Of
// members with the same name, the last one counts.
type Line [count][]byte

// index has the members by their names.
var index = func() map[string]int {
	all := map[string]int{}
	for i, name := range Names {
		all[name] = i
	}
	return all
}()

// Split takes a line apart.
func (l *Line) Split(members iter.Seq2[[]byte, []byte]) {
	clear(l[:])
	for name, value := range members {
		if i, ok := index[string(name)]; ok {
			l[i] = value
		}
	}
}

// Of returns a line, taken apart.
func Of(line []byte) *Line {
	l := &Line{}
	l.Split(rawjson.Members(line))
	return l
}

// Kind returns the kind of the line.
func (l *Line) Kind() Kind { return KindOf(l.Text(Type)) }

// Text returns the value of a string member.
func (l *Line) Text(member int) string { return rawjson.Text(l[member]) }

// Flag reports whether a member is true.
func (l *Line) Flag(member int) bool { return string(l[member]) == "true" }

// Compacts reports whether the line says that the client summarized what precedes it.
func (l *Line) Compacts() bool { return string(l[Subtype]) == `"compact_boundary"` }

// SetParent writes the parent of a line: null for none.
func SetParent(p *object.Writer, uuid string) {
	if uuid == "" {
		p.Raw(Names[Parent], []byte("null"))
	} else {
		p.Text(Names[Parent], uuid)
	}
}
