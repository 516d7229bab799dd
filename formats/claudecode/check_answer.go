package claudecode

import (
	"errors"

	"rehome/formats/internal/rawjson"
)

func (c *checker) assistant() error {
	m := &c.inner
	id := m.text("id")
	switch {
	case !c.said:
		return errors.New("answer before the first prompt")
	case id == "" || m.text("type") != "message" || m.text("role") != "assistant":
		return errors.New("malformed assistant message")
	case id != c.reply && c.ids[id]:
		return errors.New("response id was used before")
	case id != c.reply && len(c.open) > 0:
		return errors.New("new response before all tool calls have results")
	case m.text("model") == "" || string(m.raw("usage")) != noUsage || !m.only("id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"):
		return errors.New("assistant message has missing, wrong or unknown members")
	}
	c.reply, c.ids[id] = id, true
	n := 0
	for b := range rawjson.Elements(m.raw("content")) {
		n++
		c.part.split(b)
		if err := c.block(&c.part); err != nil {
			return err
		}
	}
	if n != 1 {
		return errors.New("not exactly one content block")
	}
	return nil
}

func (c *checker) block(b *taken) error {
	switch b.text("type") {
	case "tool_use":
		id, input := b.text("id"), b.raw("input")
		if !pattern(id, 64) || c.calls[id] || !pattern(b.text("name"), 128) || len(input) == 0 || input[0] != '{' || !b.only("type", "id", "name", "input") {
			return errors.New("tool call that the API rejects")
		}
		c.calls[id], c.open[id] = true, true
		return nil
	case "thinking":
		if b.text("signature") == "" || !b.only("type", "thinking", "signature") {
			return errors.New("thinking without a signature, or with unknown members")
		}
		return nil
	case "redacted_thinking":
		if b.text("data") == "" || !b.only("type", "data") {
			return errors.New("redacted thinking without data, or with unknown members")
		}
		return nil
	case "text":
		return said(b)
	}
	return errors.New("content block of a type that answers cannot have")
}

func pattern(s string, most int) bool {
	for _, c := range []byte(s) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '_' && c != '-' {
				return false
			}
		}
	}
	return s != "" && len(s) <= most
}

// only reports an object without other members than these, each at most once.
func only(b []byte, names ...string) bool {
	t := taken{}
	t.split(b)
	return t.only(names...)
}
