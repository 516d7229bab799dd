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
	c := &checker{sum: sha256.New(), uuids: map[string]bool{}, calls: map[string]bool{}, open: map[string]bool{}, ids: map[string]bool{}}
	for l, err := range lines.Each(ctx, f, maxLine) {
		if err != nil {
			return err
		}
		if err := c.line(l); err != nil {
			return &formats.Error{Format: name, At: fmt.Sprintf("line %d", l.Number), Err: err, Hint: "this is a fault of rehome: the session was not placed; please report it"}
		}
	}
	if err := c.end(); err != nil {
		return &formats.Error{Format: name, At: path, Err: err, Hint: "this is a fault of rehome: the session was not placed; please report it"}
	}
	return nil
}

type checker struct {
	sum   hash.Hash
	n     int64
	uuids map[string]bool // of all lines
	calls map[string]bool // ids of all calls
	open  map[string]bool // of those without a result
	ids   map[string]bool // of all responses
	last  string          // uuid of the line in front
	at    time.Time
	reply string // id of the response in front
	said  bool
	side  string // isSidechain of all lines
	id    string // sessionId of all lines
	ended bool   // our last line has been seen
	title bool
}

func (c *checker) line(l lines.Line) error {
	switch {
	case l.Long:
		return errors.New("it is too long")
	case !l.Ended:
		return errors.New("it does not end")
	case c.title:
		return errors.New("the title is not last")
	}
	line, repaired, err := rawjson.Line(l.Bytes)
	if err != nil || repaired || &line[0] != &l.Bytes[0] || line[0] != '{' {
		return errors.New("not one JSON object in plain spelling")
	}
	if id := text(line, "sessionId"); !isUUID(id) || c.id != "" && id != c.id {
		return errors.New("not the session's id")
	} else {
		c.id = id
	}
	kind := text(line, "type")
	switch kind {
	case "user", "assistant", "system":
		if c.ended {
			return errors.New("the conversation goes on behind its end")
		}
		err = c.chained(kind, line)
	case "rehome":
		err = c.final(line)
	case "ai-title":
		c.title = true
		if t := text(line, "aiTitle"); blank(t) || len(t) > 4096 || !c.ended {
			err = errors.New("a title that is empty, too long or too early")
		}
	default:
		err = errors.New("a type of line that nobody wrote")
	}
	c.n++
	c.sum.Write(l.Bytes)
	c.sum.Write([]byte{'\n'})
	return err
}

func (c *checker) final(line []byte) error {
	if c.ended {
		return errors.New("two ends")
	}
	c.ended = true
	if text(line, "sha256") != hex.EncodeToString(c.sum.Sum(nil)) || string(rawjson.Last(line, "lines")) != itoa(c.n) {
		return errors.New("its digest is not that of the lines in front")
	}
	return nil
}

func (c *checker) end() error {
	switch {
	case len(c.open) > 0:
		return errors.New("a call without a result")
	case !c.said:
		return errors.New("no message")
	case !c.ended || c.title == (c.side == "true"):
		return errors.New("it breaks off")
	}
	return nil
}

// chained checks a line's envelope.
func (c *checker) chained(kind string, line []byte) error {
	id := text(line, "uuid")
	if !isUUID(id) || c.uuids[id] {
		return errors.New("a uuid that is none, or not the only one")
	}
	c.uuids[id] = true
	boundary := kind == "system" && text(line, "subtype") == "compact_boundary"
	parent := rawjson.Last(line, "parentUuid")
	if root := string(parent) == "null"; root != (c.last == "" || boundary) || !root && rawjson.Text(parent) != c.last {
		return errors.New("it does not hang on the line in front")
	}
	c.last = id
	side := string(rawjson.Last(line, "isSidechain"))
	if side != "true" && side != "false" || c.side != "" && c.side != side || (side == "true") != (text(line, "agentId") != "") {
		return errors.New("not of the thread that the others are of")
	}
	c.side = side
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text(line, "timestamp"))
	if err != nil || !at.After(c.at) {
		return errors.New("a time that does not follow that of the line in front")
	}
	c.at = at
	if text(line, "cwd") == "" || text(line, "version") == "" || text(line, "userType") != "external" || text(line, "entrypoint") != "cli" {
		return errors.New("its envelope lacks something")
	}
	message := rawjson.Last(line, "message")
	switch kind {
	case "user":
		return c.user(message)
	case "assistant":
		return c.assistant(message)
	}
	if len(c.open) > 0 {
		return errors.New("a call is still without its result")
	}
	c.reply = ""
	return nil
}

func (c *checker) user(m []byte) error {
	c.reply = ""
	content := rawjson.Last(m, "content")
	if text(m, "role") != "user" || !only(m, "role", "content") {
		return errors.New("not a user's message")
	}
	c.said = true
	results, others := 0, 0
	switch {
	case len(content) > 0 && content[0] == '"':
		if blank(rawjson.Text(content)) {
			return errors.New("an empty text")
		}
		others++
	default:
		for b := range rawjson.Elements(content) {
			if text(b, "type") != "tool_result" {
				others++
				if err := said(b); err != nil {
					return err
				}
				continue
			}
			results++
			if err := c.result(b); err != nil {
				return err
			}
		}
	}
	if results+others == 0 {
		return errors.New("nothing is said")
	}
	if others > 0 && (len(c.open) > 0 || results > 0) {
		return errors.New("something is said before all calls have their results")
	}
	return nil
}

func (c *checker) result(b []byte) error {
	id := text(b, "tool_use_id")
	if !c.open[id] || !only(b, "type", "tool_use_id", "content", "is_error") {
		return errors.New("a result without its call")
	}
	delete(c.open, id)
	content := rawjson.Last(b, "content")
	if len(content) > 0 && content[0] == '"' {
		if blank(rawjson.Text(content)) {
			return errors.New("an empty result")
		}
		return nil
	}
	n := 0
	for in := range rawjson.Elements(content) {
		if n++; text(in, "type") == "document" {
			return errors.New("a document in a result")
		}
		if err := said(in); err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("an empty result")
	}
	return nil
}

// said checks a block of text, image or document.
func said(b []byte) error {
	switch text(b, "type") {
	case "text":
		if blank(text(b, "text")) || !only(b, "type", "text") {
			return errors.New("an empty text, or one with more to it")
		}
	case "image", "document":
		source := rawjson.Last(b, "source")
		if !only(b, "type", "source") || !only(source, "type", "media_type", "data") || text(source, "type") != "base64" || text(source, "data") == "" {
			return errors.New("an image or document that is none")
		}
	default:
		return errors.New("a block of a type that the API does not know")
	}
	return nil
}
