package sdksession

import (
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// what an event tells.
type what uint8

const (
	strange what = iota // something that nobody has described: carried as it is
	nothing             // no payload at all, or the word that a run is done
	request
	status
	userText
	assistantText
	thinking
	toolCall
	task
	usage
)

// event is one event, taken apart. It may be used for one after the other.
type event struct {
	sdkdoc.EventDoc
	told
	o members.Object
}

// told is what the payload of an event says.
type told struct {
	what  what
	agent string // whose it says it is

	text               string // of what somebody said; the request's id
	millis             int64  // of thinking
	call, name         string
	state              string // status of a run or a call, in lower case
	problem            string // message of a status
	args, result       []byte
	cutArgs, cutResult bool // they are shortened
	usage              *session.Usage
}

// parse takes an event's document apart; false if it is no object.
func (e *event) parse(line []byte) bool {
	e.told = told{}
	if !e.Read(line) {
		return false
	}
	if e.Payload == nil {
		e.what = nothing
		return true
	}
	e.payload(e.Payload, e.Run)
	return true
}

// keep enters the object at hand into the account.
func (e *event) keep() { e.Settle(&e.o) }

// messageTypes are the types of messages that the client wraps in an sdk_message. A public description of
// its first stores shows them alone.
var messageTypes = [...]string{"request", "status", "user", "assistant", "thinking", "task", "tool_call", "usage"}

const (
	payloadVersion = iota
	payloadType
	payloadAgent
	payloadRun
	payloadMessage
	payloadStatus
	payloadCode
)

func (e *event) payload(raw []byte, run string) {
	o := &e.o
	if !o.Split(raw, "payload.", []string{"schemaVersion", "type", "agentId", "runId", "message", "status", "errorCode"}) {
		return
	}
	e.agent = o.Text(payloadAgent)
	if v := o.Raw(payloadVersion); v != nil && string(v) != "1" {
		o.Keep(payloadVersion)
	}
	if o.Text(payloadRun) != run {
		o.Keep(payloadRun)
	}
	kind, message := o.Text(payloadType), o.Raw(payloadMessage)
	switch {
	case slices.Contains(messageTypes[:], kind): // without an envelope
		e.agent = rawjson.TextAt(raw, "agent_id")
		e.message(raw, run)
		return
	case kind == "" && message != nil && message[0] == '{':
		kind = "sdk_message"
	}
	switch {
	case kind == "result":
		e.what, e.state, e.problem = status, strings.ToLower(o.Text(payloadStatus)), o.Text(payloadCode)
		o.Keep(payloadMessage)
	case kind == "done":
		e.what = nothing
		o.Keep(payloadMessage)
		o.Keep(payloadStatus)
		o.Keep(payloadCode)
	case kind == "sdk_message" && message != nil:
		o.Keep(payloadStatus)
		o.Keep(payloadCode)
		e.keep()
		e.message(message, run)
		return
	}
	e.keep()
}

const (
	messageType = iota
	messageAgent
	messageRun
	messageRequest
	messageStatus
	messageMessage
	messageText
	messageMillis
	messageCall
	messageName
	messageArgs
	messageResult
	messageTruncated
	messageUsage
)

func (e *event) message(raw []byte, run string) {
	o := &e.o
	if !o.Split(raw, "message.", []string{"type", "agent_id", "run_id", "request_id", "status", "message", "text", "thinking_duration_ms", "call_id", "name", "args", "result", "truncated", "usage"}) {
		return
	}
	var used []int
	if agent := o.Text(messageAgent); agent != e.agent {
		o.Keep(messageAgent)
	}
	if o.Text(messageRun) != run {
		o.Keep(messageRun)
	}
	inner := members.Object{}
	switch o.Text(messageType) {
	case "request":
		e.what, e.text, used = request, o.Text(messageRequest), []int{messageRequest}
	case "status":
		e.what, e.state, e.problem = status, strings.ToLower(o.Text(messageStatus)), o.Text(messageMessage)
		used = []int{messageStatus, messageMessage}
	case "user", "assistant":
		role := o.Text(messageType)
		if !e.said(&inner, o.Raw(messageMessage), role) {
			return
		}
		if e.what = assistantText; role == "user" {
			e.what = userText
		}
		used = []int{messageMessage}
	case "thinking":
		e.what, e.text, e.millis = thinking, o.Text(messageText), o.Int(messageMillis, 0)
		used = []int{messageText, messageMillis}
	case "task":
		e.what, e.text, used = task, o.Text(messageText), []int{messageText}
	case "tool_call":
		if !e.tool() {
			return
		}
		used = []int{messageStatus, messageCall, messageName, messageArgs, messageResult, messageTruncated}
	case "usage":
		u, in, ok := sdkdoc.ReadUsage(o.Raw(messageUsage))
		if !ok {
			return
		}
		e.what, e.usage, inner, used = usage, u, *in, []int{messageUsage}
	default:
		return
	}
	for i := messageRequest; i <= messageUsage; i++ {
		if !slices.Contains(used, i) {
			o.Keep(i)
		}
	}
	e.keep()
	e.Settle(&inner)
}

// said reads {role, content: [{type: "text", text}]}. What is no text is kept.
func (e *event) said(in *members.Object, raw []byte, role string) bool {
	if !in.Split(raw, "message.message.", []string{"role", "content"}) {
		return false
	}
	if in.Text(0) != role {
		in.Keep(0)
	}
	content := in.Raw(1)
	switch {
	case content == nil:
	case content[0] == '"':
		e.text = rawjson.Text(content)
	case content[0] == '[':
		n := 0
		var part members.Object
		var text strings.Builder
		for raw := range rawjson.Elements(content) {
			path := "message.message.content." + strconv.Itoa(n)
			n++
			if part.Split(raw, path+".", []string{"type", "text"}) && part.Text(0) == "text" && rawjson.IsText(part.Raw(1)) {
				text.WriteString(part.Text(1))
				e.Settle(&part)
				continue
			}
			e.odd(path, raw)
		}
		e.text = text.String()
	default:
		in.Keep(1)
	}
	return true
}

// odd keeps a member that is no text.
func (e *event) odd(name string, raw []byte) {
	count := session.Account{Members: 1, MembersConverted: 1}
	if raw = members.Bare(name, raw); raw != nil {
		count = session.Account{Members: 1, MembersRaw: 1}
		e.Extras = append(e.Extras, session.Extra{Name: name, Raw: raw})
	}
	e.Account.Add(count)
}

// tool reads a step of a call; false if it does not say of which.
func (e *event) tool() bool {
	o := &e.o
	if e.call = o.Text(messageCall); e.call == "" {
		return false
	}
	e.what, e.name, e.state = toolCall, o.Text(messageName), strings.ToLower(o.Text(messageStatus))
	e.args, e.result = o.Raw(messageArgs), o.Raw(messageResult)
	if string(e.args) == "{}" {
		e.args = nil
	}
	var cut members.Object
	if raw := o.Raw(messageTruncated); raw != nil {
		if !cut.Split(raw, "message.truncated.", []string{"args", "result"}) {
			o.Keep(messageTruncated)
			return true
		}
		e.cutArgs, e.cutResult = cut.Flag(0), cut.Flag(1)
		e.Settle(&cut)
	}
	return true
}
