package claudecode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"time"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
)

// verify holds a file that we wrote against the rules of the client and of the
// API behind it. It reads the file anew and trusts nothing of the writer's.
func verify(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &checker{sum: sha256.New(), uuids: map[string]bool{}, calls: map[string]bool{}, ids: map[string]bool{}, rows: map[string]*row{}, forks: map[string]bool{}}
	for l, err := range lines.Each(ctx, f, maxLine) {
		if err != nil {
			return err
		}
		if err := c.line(l); err != nil {
			return &formats.Error{Format: name, At: fmt.Sprintf("line %d", l.Number), Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
		}
	}
	if err := c.end(); err != nil {
		return &formats.Error{Format: name, At: path, Err: err, Hint: "the session was not written; this is a bug in rehome, please report it"}
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
	*row                  // that the line at hand is of
	at    time.Time
	forks map[string]bool // uuids of lines that abandoned branches grow from
	leaf  string          // uuid of the last thing said
	stray bool            // that is of an abandoned branch
	side  string          // isSidechain of all lines
	id    string          // sessionId of all lines
	ended bool            // our last line has been seen
	title bool

	outer, inner, part taken // the line at hand, its message, a block of that
}

// row is the lines of one branch, each of which hangs on the one in front.
type row struct {
	open  map[string]bool // calls without a result
	last  string          // uuid of the line in front
	reply string          // id of the response in front
	said  bool
}

// turn finds the row of a line.
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
	c.outer.split(line)
	if id := c.outer.text("sessionId"); !isUUID(id) || c.id != "" && id != c.id {
		return errors.New("sessionId is not a UUID, or not that of the previous lines")
	} else {
		c.id = id
	}
	kind := c.outer.text("type")
	switch kind {
	case "user", "assistant", "system":
		if c.ended {
			return errors.New("conversation line after the \"rehome\" line")
		}
		err = c.chained(kind)
	case "rehome":
		err = c.final()
	case "ai-title":
		c.title = true
		if t := c.outer.text("aiTitle"); blank(t) || len(t) > 4096 || !c.ended {
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

func (c *checker) final() error {
	if c.ended {
		return errors.New("second \"rehome\" line")
	}
	c.ended = true
	if c.outer.text("sha256") != hex.EncodeToString(c.sum.Sum(nil)) || string(c.outer.raw("lines")) != itoa(c.n) {
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
		return nil // nothing was ever said
	case !c.said:
		return errors.New("no messages")
	case c.stray || c.forks[c.leaf]:
		return errors.New("last message is on an abandoned branch, or such a branch starts at it")
	case !c.ended || c.title == (c.side == "true"):
		return errors.New("\"rehome\" line is missing, or title is missing or unexpected")
	}
	return nil
}

// chained checks a line's envelope.
func (c *checker) chained(kind string) error {
	id := c.outer.text("uuid")
	if !isUUID(id) || c.uuids[id] {
		return errors.New("uuid is malformed or duplicated")
	}
	branch := text(c.outer.raw("rehome"), "branch")
	c.turn(branch)
	boundary := kind == "system" && c.outer.text("subtype") == "compact_boundary"
	up := c.outer.text("parentUuid")
	root := string(c.outer.raw("parentUuid")) == "null"
	switch {
	case branch != "" && kind == "system":
		return errors.New("system line on an abandoned branch")
	case branch != "" && c.last == "" && (root || c.uuids[up]): // it may grow from anywhere in front
		c.said, c.forks[up] = !root, true
	case root != (c.last == "" || boundary) || !root && up != c.last:
		return errors.New("parentUuid does not point to the previous line")
	}
	if c.last, c.uuids[id] = id, true; kind != "system" {
		c.stray, c.leaf = branch != "", id
	}
	side := string(c.outer.raw("isSidechain"))
	if side != "true" && side != "false" || c.side != "" && c.side != side || (side == "true") != (c.outer.text("agentId") != "") {
		return errors.New("isSidechain is invalid, differs from the previous lines', or does not fit agentId")
	}
	c.side = side
	at, err := time.Parse(stampLayout, c.outer.text("timestamp"))
	if err != nil || !at.After(c.at) {
		return errors.New("timestamp is malformed, or not later than the previous line's")
	}
	c.at = at
	if c.outer.text("cwd") == "" || c.outer.text("version") == "" || c.outer.text("userType") != "external" || c.outer.text("entrypoint") != "cli" {
		return errors.New("cwd, version, userType or entrypoint is missing or wrong")
	}
	c.inner.split(c.outer.raw("message"))
	switch kind {
	case "user":
		return c.user()
	case "assistant":
		return c.assistant()
	}
	if len(c.open) > 0 {
		return errors.New("system line before all tool calls have results")
	}
	c.reply = ""
	return nil
}

func (c *checker) user() error {
	c.reply = ""
	content := c.inner.raw("content")
	if c.inner.text("role") != "user" || !c.inner.only("role", "content") {
		return errors.New("malformed user message")
	}
	c.said = true
	results, others := 0, 0
	switch {
	case len(content) > 0 && content[0] == '"':
		if !says(content) {
			return errors.New("empty text")
		}
		others++
	default:
		for b := range rawjson.Elements(content) {
			c.part.split(b)
			if c.part.text("type") != "tool_result" {
				others++
				if err := said(&c.part); err != nil {
					return err
				}
				continue
			}
			results++
			if err := c.result(); err != nil {
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
	id := c.part.text("tool_use_id")
	if !c.open[id] || !c.part.only("type", "tool_use_id", "content", "is_error") {
		return errors.New("tool result has no open call, or unknown members")
	}
	delete(c.open, id)
	content := c.part.raw("content")
	if len(content) > 0 && content[0] == '"' {
		if failed := string(c.part.raw("is_error")) != "false"; !says(content) && (failed || string(content) != `""`) {
			return errors.New("blank tool result, or an error result without text")
		}
		return nil
	}
	n := 0
	for in := range rawjson.Elements(content) {
		c.part.split(in)
		switch n++; c.part.text("type") {
		case "document":
			return errors.New("document in a tool result")
		case "tool_reference":
			if !reference(in) {
				return errors.New("malformed tool_reference")
			}
			continue
		}
		if err := said(&c.part); err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("empty tool result")
	}
	return nil
}

// said checks a block of text, image or document.
func said(b *taken) error {
	switch b.text("type") {
	case "text":
		if !says(b.raw("text")) || !b.only("type", "text") {
			return errors.New("text block is empty or has unknown members")
		}
	case "image", "document":
		source := b.raw("source")
		if !b.only("type", "source") || !only(source, "type", "media_type", "data") || text(source, "type") != "base64" || text(source, "data") == "" {
			return errors.New("malformed image or document")
		}
	default:
		return errors.New("content block of a type that the API does not accept")
	}
	return nil
}
