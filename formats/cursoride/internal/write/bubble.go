package write

import (
	"encoding/base64"
	"strconv"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Values of type and capabilityType in bubbles.
const (
	byUser      = 1
	byAssistant = 2

	plain     = 0
	byTool    = 15
	bySummary = 22
	byThought = 30
)

// modes are the numbers of unifiedMode in bubbles.
var modes = map[string]int{"chat": 1, "ask": 1, "agent": 2, "edit": 3, "custom": 4, "plan": 5, "debug": 6}

// emptyLists are members that the client has in each bubble. It reads some of them without
// a look whether they are there.
const emptyLists = `,"approximateLintErrors":[],"lints":[],"codebaseContextChunks":[],"commits":[],"pullRequests":[],"attachedCodeChunks":[],` +
	`"assistantSuggestedDiffs":[],"gitDiffs":[],"interpreterResults":[],"attachedFolders":[],"attachedFoldersNew":[],` +
	`"userResponsesToSuggestedCodeBlocks":[],"suggestedCodeBlocks":[],"diffsForCompressingFiles":[],"relevantFiles":[],"toolResults":[],` +
	`"notepads":[],"capabilities":[],"multiFileLinterErrors":[],"diffHistories":[],"recentLocationsHistory":[],"recentlyViewedFiles":[],` +
	`"fileDiffTrajectories":[],"docsReferences":[],"webReferences":[],"aiWebSearchResults":[],"attachedFoldersListDirResults":[],` +
	`"humanChanges":[],"summarizedComposers":[],"cursorRules":[],"contextPieces":[],"editTrailContexts":[],"allThinkingBlocks":[],` +
	`"diffsSinceLastApply":[],"deletedFiles":[],"supportedTools":[],"attachedFileCodeChunksMetadataOnly":[],"consoleLogs":[],` +
	`"uiElementPicked":[],"knowledgeItems":[],"documentationSelections":[],"externalLinks":[],"projectLayouts":[],` +
	`"capabilityContexts":[],"todos":[],"mcpDescriptors":[],"workspaceUris":[],"codeBlocks":[]`

// bubble is one that is being written.
type bubble struct {
	object.Writer
	id string
}

// begin begins a bubble: its place in the list, and the members that all have.
func (c *composer) begin(m *session.Message, kind, capability int, text string) *bubble {
	c.bubbles++
	b := &bubble{id: c.bubbleID(m.ID), Writer: object.New(c.buf[:0])}
	c.last = b.id
	if len(c.headers) > 0 {
		c.headers = append(c.headers, ',')
	}
	h := object.New(c.headers)
	h.Text("bubbleId", b.id)
	h.Num("type", kind)
	b.Num("_v", 3)
	b.Num("type", kind)
	b.Text("bubbleId", b.id)
	if inReach(m.At) {
		at := m.At.Millis()
		if c.first == 0 {
			c.first = at
		}
		c.latest = max(c.latest, at)
		h.Text("createdAt", session.FormatMillis(at))
		b.Text("createdAt", session.FormatMillis(at))
	}
	h.Name("grouping")
	g := object.New(h.B)
	g.Flag("isRenderable", true)
	g.Flag("hasText", text != "")
	if capability != plain {
		g.Num("capabilityType", capability)
		b.Num("capabilityType", capability)
	}
	h.B = g.Done()
	c.headers = h.Done()
	if kind == byAssistant && inReach(m.At) && inReach(m.End) {
		b.Name("timingInfo")
		t := object.New(b.B)
		t.Raw("clientStartTime", strconv.AppendInt(nil, m.At.Millis(), 10))
		t.Raw("clientEndTime", strconv.AppendInt(nil, m.End.Millis(), 10))
		b.B = t.Done()
	}
	b.Text("text", text)
	b.NonEmpty("requestId", c.request)
	if n := modes[c.mode]; n > 0 {
		b.Num("unifiedMode", n)
	}
	if m.Model != "" {
		b.Name("modelInfo")
		model := object.New(b.B)
		model.Text("modelName", m.Model)
		b.B = model.Done()
	}
	return b
}

// save writes a bubble.
func (c *composer) save(b *bubble) {
	b.B = append(b.B, emptyLists...)
	doc := b.Done()
	c.said.Add(b.id, doc)
	c.disk.row(lists.BubbleRow+c.id+":"+b.id, doc, false)
	if c.buf = doc[:0]; cap(doc) > 1<<20 {
		c.buf = nil
	}
}

// message writes the bubbles of a message.
func (c *composer) message(m *session.Message) {
	if m.Branch != "" {
		return
	}
	if m.Role == session.User {
		c.asked(m)
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Summary:
			b := c.begin(m, byAssistant, bySummary, "")
			b.Name("conversationSummary")
			of := object.New(b.B)
			of.Text("summary", p.Text)
			b.B = of.Done()
			c.save(b)
		case *session.ToolResult:
			c.result(m, p)
		case *session.ToolCall:
			c.call(m, p)
		case *session.Thinking:
			c.thought(m, p)
		case *session.Text:
			if m.Role == session.Assistant && strings.TrimSpace(p.Text) != "" {
				c.save(c.begin(m, byAssistant, plain, p.Text))
			}
		case *session.Media:
			if m.Role == session.Assistant {
				c.noteAt(m, loss.PartHidden)
			}
		}
	}
}

// asked writes the bubble of a prompt. Context alone has none, unless a turn begins with
// it.
func (c *composer) asked(m *session.Message) {
	var texts []string
	images := []byte{'['}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			texts = append(texts, p.Text)
		case *session.Media:
			if !isImage(p) {
				c.noteAt(m, loss.PartHidden)
				continue
			}
			if len(images) > 1 {
				images = append(images, ',')
			}
			o := object.New(images)
			o.Text("data", base64.StdEncoding.EncodeToString(p.Data))
			o.NonEmpty("mimeType", p.Mime)
			images = o.Done()
		}
	}
	text := strings.Join(texts, "\n")
	if m.Turn == nil && text == "" && len(images) == 1 {
		return
	}
	c.request = ""
	if t := m.Turn; t != nil {
		c.request, c.mode = t.RequestID, t.Mode
	}
	b := c.begin(m, byUser, plain, text)
	b.Raw("images", append(images, ']'))
	if m.Simulated || m.Turn == nil {
		b.Flag("isSimulatedMsg", true)
	} else if c.title == "" {
		c.title = envelope.FirstLine(text)
	}
	if t := m.Turn; t != nil {
		c.ended(b, t)
	}
	c.save(b)
}

// isImage reports whether the client shows a part of a prompt as an image. It has images whose
// type it does not say.
func isImage(m *session.Media) bool {
	return m.Data != nil && (strings.HasPrefix(m.Mime, "image/") || m.Mime == "" && m.Name == "")
}

// ended writes how a turn ended, to the bubble that it begins with.
func (c *composer) ended(b *bubble, t *session.Turn) {
	if u := t.Usage; u != nil && (u.Input > 0 || u.Output > 0) {
		b.Name("tokenCount")
		o := object.New(b.B)
		o.Raw("inputTokens", strconv.AppendInt(nil, max(u.Input, 0), 10))
		o.Raw("outputTokens", strconv.AppendInt(nil, max(u.Output, 0), 10))
		b.B = o.Done()
	}
	if t.Error != "" {
		b.Name("errorDetails")
		o := object.New(b.B)
		o.Text("message", t.Error)
		b.B = o.Done()
	}
}

// own reports whether a session is one of Cursor's.
func (c *composer) own() bool {
	return c.s.Agent == session.CursorIDE || c.s.Agent == session.CursorCLI || c.s.Agent == session.CursorSDK
}

// thought writes reasoning that the state holds, too.
func (c *composer) thought(m *session.Message, t *session.Thinking) {
	hidden := t.Redacted || strings.TrimSpace(t.Text) == ""
	if !c.own() && (hidden || c.build.DropThinking) {
		return
	}
	b := c.begin(m, byAssistant, byThought, "")
	b.Name("thinking")
	o := object.New(b.B)
	o.Text("text", t.Text)
	if c.own() {
		o.NonEmpty("signature", t.Signature)
		o.NonEmpty("redactedThinking", t.Data)
	}
	b.B = o.Done()
	if t.Millis > 0 {
		b.Raw("thinkingDurationMs", strconv.AppendInt(nil, t.Millis, 10))
	}
	c.save(b)
}
