package write

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"time"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Verify checks a file that a sink wrote against the rules of the client and of the
// API. It reads the file again and uses nothing that the encoder knows.
func Verify(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &checker{sum: sha256.New(), uuids: map[string]bool{}, calls: map[string]bool{}, ids: map[string]bool{}, rows: map[string]*row{}, forks: map[string]bool{}}
	for l, err := range lines.Each(ctx, f, outline.MaxLine) {
		if err != nil {
			return err
		}
		if err := c.line(l); err != nil {
			return &formats.Error{Format: outline.FormatName, At: fmt.Sprintf("line %d", l.Number), Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
		}
	}
	if err := c.end(); err != nil {
		return &formats.Error{Format: outline.FormatName, At: path, Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
	}
	return nil
}

type checker struct {
	sum   hash.Hash
	n     int64
	uuids map[string]bool // of all lines
	calls map[string]bool // ids of all calls
	ids   map[string]bool // of all responses
	rows  map[string]*row // by branch
	*row                  // of the branch of the current line
	at    time.Time
	forks map[string]bool // uuids of lines that abandoned branches grow from
	leaf  string          // uuid of the last message
	stray bool            // leaf is on an abandoned branch
	side  string          // isSidechain of all lines
	id    string          // sessionId of all lines
	ended bool            // the "rehome" line was read
	title bool

	outer       shape.Line     // the current line
	inner, part outline.Fields // its message, and a block of that
}

// row is the state of one branch. The parent of each line is the line before it.
type row struct {
	open  map[string]bool // calls without a result
	last  string          // uuid of the previous line
	reply string          // id of the previous response
	said  bool
}

// turn selects the row of a branch.
func (c *checker) turn(branch string) {
	if c.row = c.rows[branch]; c.row == nil {
		c.row = &row{open: map[string]bool{}}
		c.rows[branch] = c.row
	}
}

func (c *checker) line(l lines.Line) error {
	switch {
	case l.Long:
		return errors.New("line too long")
	case !l.Ended:
		return errors.New("line without a newline")
	case c.title:
		return errors.New("line after the title, which must be last")
	}
	line, repaired, err := rawjson.Line(l.Bytes)
	if err != nil || repaired || &line[0] != &l.Bytes[0] || line[0] != '{' {
		return errors.New("not a plain JSON object")
	}
	c.outer.Split(rawjson.Members(line))
	if id := c.outer.Text(shape.Session); !formats.IsUUID(id) || c.id != "" && id != c.id {
		return errors.New("sessionId is not a UUID, or not that of the previous lines")
	} else {
		c.id = id
	}
	kind := c.outer.Text(shape.Type)
	switch kind {
	case "user", "assistant", "system", "attachment":
		if c.ended {
			return errors.New("conversation line after the \"rehome\" line")
		}
		err = c.chained(kind)
	case "rehome":
		err = c.final(line)
	case "ai-title":
		c.title = true
		if t := rawjson.TextAt(line, "aiTitle"); outline.Blank(t) || len(t) > 4096 || !c.ended {
			err = errors.New("title is empty, too long or before the \"rehome\" line")
		}
	default:
		err = errors.New("unexpected line type")
	}
	c.n++
	c.sum.Write(l.Bytes)
	c.sum.Write([]byte{'\n'})
	return err
}

func (c *checker) final(line []byte) error {
	if c.ended {
		return errors.New("second \"rehome\" line")
	}
	c.ended = true
	if rawjson.TextAt(line, "sha256") != hex.EncodeToString(c.sum.Sum(nil)) || string(rawjson.Last(line, "lines")) != itoa(c.n) {
		return errors.New("digest or count does not match the lines before it")
	}
	return nil
}

func (c *checker) end() error {
	for _, r := range c.rows {
		if len(r.open) > 0 {
			return errors.New("tool call without a result")
		}
	}
	c.turn("")
	switch {
	case c.ended && c.n <= 2 && len(c.uuids) == 0:
		return nil // a session without messages
	case !c.said:
		return errors.New("no messages")
	case c.stray || c.forks[c.leaf]:
		return errors.New("last message is on an abandoned branch, or such a branch starts at it")
	case !c.ended || c.title == (c.side == "true"):
		return errors.New("\"rehome\" line is missing, or title is missing or unexpected")
	}
	return nil
}

// chained checks the envelope of a line.
func (c *checker) chained(kind string) error {
	id := c.outer.Text(shape.UUID)
	if !formats.IsUUID(id) || c.uuids[id] {
		return errors.New("uuid is malformed or duplicated")
	}
	branch := rawjson.TextAt(c.outer[shape.Own], "branch")
	c.turn(branch)
	boundary := kind == "system" && c.outer.Compacts()
	up := c.outer.Text(shape.Parent)
	root := string(c.outer[shape.Parent]) == "null"
	switch {
	case branch != "" && (kind == "system" || kind == "attachment"):
		return errors.New("system line or attachment on an abandoned branch")
	case branch != "" && c.last == "" && (root || c.uuids[up]): // it may start at any earlier line
		c.said, c.forks[up] = !root, true
	case root != (c.last == "" || boundary) || !root && up != c.last:
		return errors.New("parentUuid does not point to the previous line")
	}
	if c.last, c.uuids[id] = id, true; kind == "user" || kind == "assistant" {
		c.stray, c.leaf = branch != "", id
	}
	side := string(c.outer[shape.Side])
	if side != "true" && side != "false" || c.side != "" && c.side != side || (side == "true") != (c.outer.Text(shape.Agent) != "") {
		return errors.New("isSidechain is invalid, differs from the previous lines', or does not fit agentId")
	}
	c.side = side
	at, err := time.Parse(session.StampLayout, c.outer.Text(shape.Time))
	if err != nil || !at.After(c.at) {
		return errors.New("timestamp is malformed, or not later than the previous line's")
	}
	c.at = at
	if c.outer.Text(shape.Cwd) == "" || c.outer.Text(shape.Version) == "" ||
		c.outer.Text(shape.UserType) != "external" || c.outer.Text(shape.Entrypoint) != "cli" {
		return errors.New("cwd, version, userType or entrypoint is missing or wrong")
	}
	c.inner.Split(c.outer[shape.Message])
	switch kind {
	case "user":
		return c.user()
	case "assistant":
		return c.assistant()
	case "attachment":
		if rawjson.TextAt(c.outer[shape.Attached], "type") == "" {
			return errors.New("attachment without a type")
		}
	}
	if len(c.open) > 0 {
		return errors.New("system line or attachment before all tool calls have results")
	}
	c.reply = ""
	return nil
}

func (c *checker) user() error {
	c.reply = ""
	content := c.inner.Raw("content")
	if c.inner.Text("role") != "user" || !c.inner.Only("role", "content") {
		return errors.New("malformed user message")
	}
	c.said = true
	results, others := 0, 0
	switch {
	case rawjson.IsText(content):
		if !says(content) {
			return errors.New("empty text")
		}
		others++
	default:
		for b := range rawjson.Elements(content) {
			c.part.Split(b)
			t, err := member(&c.part)
			if err == nil && t.Fate == shape.Answer {
				results++
				err = c.result()
			} else if err == nil {
				others++
				err = said(&c.part, t)
			}
			if err != nil {
				return err
			}
		}
	}
	if results+others == 0 {
		return errors.New("message without content")
	}
	if others > 0 && (len(c.open) > 0 || results > 0) {
		return errors.New("content next to tool results, or before all tool calls have results")
	}
	return nil
}

func (c *checker) result() error {
	id := c.part.Text("tool_use_id")
	if !c.open[id] {
		return errors.New("tool result has no open call")
	}
	delete(c.open, id)
	content := c.part.Raw("content")
	if rawjson.IsText(content) {
		if failed := string(c.part.Raw("is_error")) != "false"; !says(content) && (failed || string(content) != `""`) {
			return errors.New("blank tool result, or an error result without text")
		}
		return nil
	}
	n := 0
	for in := range rawjson.Elements(content) {
		c.part.Split(in)
		switch n++; c.part.Text("type") {
		case "document":
			return errors.New("document in a tool result")
		case "tool_reference":
			if !reference(in) {
				return errors.New("malformed tool_reference")
			}
			continue
		}
		t, err := member(&c.part)
		if err == nil {
			err = said(&c.part, t)
		}
		if err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("empty tool result")
	}
	return nil
}

// member returns the type of a block, which has no members but those of a part.
func member(b *outline.Fields) (*shape.Block, error) {
	t := shape.Blocks[b.Text("type")]
	if t == nil || !b.Only(t.Members...) {
		return nil, errors.New("content block of a type that the API does not accept, or with unknown members")
	}
	return t, nil
}

// said checks a block of text, an image or a document.
func said(b *outline.Fields, t *shape.Block) error {
	switch t.Fate {
	case shape.Text:
		if !says(b.Raw("text")) {
			return errors.New("empty text block")
		}
	case shape.Media:
		source := b.Raw("source")
		if !outline.Only(source, "type", "media_type", "data") ||
			rawjson.TextAt(source, "type") != "base64" || rawjson.TextAt(source, "data") == "" {
			return errors.New("malformed image or document")
		}
	default:
		return errors.New("content block of a type that is not accepted here")
	}
	return nil
}

// says reports whether a JSON string is not blank. Usually its first character
// decides.
func says(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '"' {
		return false
	}
	if c := raw[1]; c > ' ' && c < 0x7f && c != '"' && c != '\\' {
		return true
	}
	return !outline.Blank(rawjson.Text(raw))
}

// Unmodified reports whether a file is as Encode wrote it. The client only appends to
// a file that it continues, and then the digest and the title are no longer last.
func Unmodified(ctx context.Context, path string) (bool, error) {
	err := Verify(ctx, path)
	if ctxErr := ctx.Err(); ctxErr != nil {
		return false, ctxErr
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return false, err
	}
	return err == nil, nil
}

func (c *checker) assistant() error {
	m := &c.inner
	id := m.Text("id")
	switch {
	case !c.said:
		return errors.New("answer before the first prompt")
	case id == "" || m.Text("type") != "message" || m.Text("role") != "assistant":
		return errors.New("malformed assistant message")
	case id != c.reply && c.ids[id]:
		return errors.New("response id was used before")
	case id != c.reply && len(c.open) > 0:
		return errors.New("new response before all tool calls have results")
	case m.Text("model") == "" || string(m.Raw("usage")) != noUsage || !m.Only("id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"):
		return errors.New("assistant message has missing, wrong or unknown members")
	}
	c.reply, c.ids[id] = id, true
	n := 0
	for b := range rawjson.Elements(m.Raw("content")) {
		n++
		c.part.Split(b)
		if err := c.block(&c.part); err != nil {
			return err
		}
	}
	if n != 1 {
		return errors.New("not exactly one content block")
	}
	return nil
}

func (c *checker) block(b *outline.Fields) error {
	t, err := member(b)
	if err != nil {
		return err
	}
	switch t.Fate {
	case shape.Call:
		id, input := b.Text("id"), b.Raw("input")
		named := outline.ValidID(id, outline.MaxID) && !c.calls[id] && outline.ValidID(b.Text("name"), outline.MaxTool)
		if !named || len(input) == 0 || input[0] != '{' {
			return errors.New("tool call that the API rejects")
		}
		c.calls[id], c.open[id] = true, true
	case shape.Thinking:
		if b.Text("signature") == "" {
			return errors.New("thinking without a signature")
		}
	case shape.Redacted:
		if b.Text("data") == "" {
			return errors.New("redacted thinking without data")
		}
	case shape.Text:
		return said(b, t)
	default:
		return errors.New("content block of a type that answers cannot have")
	}
	return nil
}
