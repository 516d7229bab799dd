package claudecode

import (
	"errors"

	"rehome/formats/internal/rawjson"
)

func (c *checker) assistant(m []byte) error {
	id := text(m, "id")
	switch {
	case !c.said:
		return errors.New("an answer before anything was asked")
	case id == "" || text(m, "type") != "message" || text(m, "role") != "assistant":
		return errors.New("not an answer")
	case id != c.reply && c.ids[id]:
		return errors.New("a response in two places")
	case id != c.reply && len(c.open) > 0:
		return errors.New("another response before all calls have their results")
	case text(m, "model") == "" || string(rawjson.Last(m, "usage")) != noUsage || !only(m, "id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"):
		return errors.New("an answer with more or less than it should have")
	}
	c.reply, c.ids[id] = id, true
	n := 0
	for b := range rawjson.Elements(rawjson.Last(m, "content")) {
		n++
		if err := c.block(b); err != nil {
			return err
		}
	}
	if n != 1 {
		return errors.New("not one block")
	}
	return nil
}

func (c *checker) block(b []byte) error {
	switch text(b, "type") {
	case "tool_use":
		id, input := text(b, "id"), rawjson.Last(b, "input")
		if !pattern(id, 64) || c.calls[id] || !pattern(text(b, "name"), 128) || len(input) == 0 || input[0] != '{' || !only(b, "type", "id", "name", "input") {
			return errors.New("a call that the API refuses")
		}
		c.calls[id], c.open[id] = true, true
		return nil
	case "thinking":
		if text(b, "signature") == "" || !only(b, "type", "thinking", "signature") {
			return errors.New("thinking without a signature")
		}
		return nil
	case "redacted_thinking":
		if text(b, "data") == "" || !only(b, "type", "data") {
			return errors.New("redacted thinking without its data")
		}
		return nil
	case "text":
		return said(b)
	}
	return errors.New("a block that no answer holds")
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
	seen := 0
next:
	for name := range rawjson.Members(b) {
		for i, n := range names {
			if string(name) == n {
				if seen&(1<<i) != 0 {
					return false
				}
				seen |= 1 << i
				continue next
			}
		}
		return false
	}
	return true
}
