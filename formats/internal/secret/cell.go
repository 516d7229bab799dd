package secret

import (
	"bytes"
	"encoding/hex"
	"slices"

	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// digits is how the JSON of a cell is spelled.
type digits uint8

const (
	plain digits = iota // as it is
	lower               // in hexadecimal
	upper
)

// open is the JSON of a cell, and how it was spelled. Digits of mixed case
// count as lower: nobody writes them so.
func (r *bound) open(c store.Cell) ([]byte, digits) {
	b := c.Bytes()
	if !r.Hex || len(b) == 0 || len(b)%2 != 0 {
		return b, plain
	}
	text := make([]byte, len(b)/2)
	if _, err := hex.Decode(text, b); err != nil {
		return b, plain
	}
	if bytes.ContainsAny(b, "ABCDEF") && !bytes.ContainsAny(b, "abcdef") {
		return text, upper
	}
	return text, lower
}

// spell is open backwards.
func spell(class store.Class, text []byte, d digits) store.Cell {
	if d != plain {
		text = hex.AppendEncode(nil, text)
	}
	if d == upper {
		text = bytes.ToUpper(text)
	}
	if class == store.Blob {
		return store.BlobCell(text)
	}
	return store.TextCell(text)
}

// withhold puts the marker in the place of each member's value. It returns what
// the members are called that it met; broken means that the cell is no JSON, yet
// names a secret, and nobody can say where it ends.
func (r *bound) withhold(c store.Cell, key []byte) (out store.Cell, met []string, broken bool) {
	text, d := r.open(c)
	depth, suspect := r.depth(key), memberEnding().in(text)
	switch {
	case !suspect && r.Hex && hexish(c.Bytes()) && hidden(text):
		return c, nil, true
	case !suspect && depth == 0:
		return c, nil, false
	}
	if p, ok := keyNamed(key); ok && depth == anywhere && scalar(c.Bytes()) {
		return store.WithheldCell(), []string{p.called}, false
	}
	found, err := members(text, depth)
	if err != nil {
		return c, nil, suspect && !r.Said && mayHold(text) || depth == anywhere && MayName(text)
	}
	if len(found) == 0 || r.addressed(key, c) {
		return c, nil, false
	}
	var b []byte
	from := 0
	for _, m := range found {
		b = append(append(b, text[from:m.From]...), Marker...)
		from = m.To
		if p, ok := patternOf(m.Name); ok {
			m.Name = p.called
		}
		met = append(met, m.Name)
	}
	return spell(c.Class, append(b, text[from:]...), d), met, false
}

// members are those that hold secrets, none inside of another.
func members(text []byte, depth int) (found []rawjson.Member, err error) {
	err = rawjson.Find(text, match(depth), func(m rawjson.Member) bool {
		for n := len(found); n > 0 && found[n-1].From > m.From; n-- {
			found = found[:n-1] // lies in m, goes with it
		}
		value := text[m.From:m.To]
		if p, ok := patternOf(m.Name); !harmless(value) && (!ok || p.hides(value)) {
			found = append(found, m)
		}
		return true
	})
	return found, err
}

// scalar reports a cell that is one value: a text, or one in quotes.
func scalar(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] == '{' || text[0] == '[' || harmless(text) {
		return false
	}
	return string(text) != "true" && string(text) != "false" && len(bytes.Trim(text, "0123456789.-")) > 0
}

// harmless are the values that hold no secret: the marker, nothing, no text.
func harmless(value []byte) bool {
	return string(value) == Marker || string(value) == "null" || string(value) == `""`
}

// omit cuts out each member whose value is the marker, and tells what to
// insert to have it back.
func (r *bound) omit(c store.Cell, key []byte) (store.Cell, []store.Insert) {
	text, d := r.open(c)
	if !bytes.Contains(text, []byte(Marker)) {
		return c, nil
	}
	var found []rawjson.Member
	err := rawjson.Find(text, match(r.depth(key)), func(m rawjson.Member) bool {
		if string(text[m.From:m.To]) == Marker {
			found = append(found, m)
		}
		return true
	})
	if err != nil || len(found) == 0 || r.addressed(key, c) {
		return c, nil
	}
	out, inserts := cut(text, found)
	return spell(c.Class, out, d), inserts
}

// cut cuts members out, none of which lies inside another, and returns what to
// insert to have them back.
func cut(text []byte, found []rawjson.Member) (out []byte, inserts []store.Insert) {
	from := 0
	for _, m := range found {
		cut, to := m.CutFrom, m.CutTo
		if cut < from {
			cut, to = from, m.Next // the comma in front is gone already
		}
		out = append(out, text[from:cut]...)
		if n := len(inserts); n > 0 && inserts[n-1].Offset == len(out) {
			inserts[n-1].Text += string(text[cut:to])
		} else {
			inserts = append(inserts, store.Insert{Offset: len(out), Text: string(text[cut:to])})
		}
		from = to
	}
	return append(out, text[from:]...), inserts
}

// insert puts back what omit cut out; ok is false where the offsets make no
// sense.
func insert(text []byte, inserts []store.Insert) (out []byte, ok bool) {
	from := 0
	for _, in := range inserts {
		if in.Offset < from || in.Offset > len(text) {
			return nil, false
		}
		out = append(append(out, text[from:in.Offset]...), in.Text...)
		from = in.Offset
	}
	return append(out, text[from:]...), true
}

// mayHold reports whether text that is not JSON may hold a secret. What begins
// like JSON may if it names one at all; other text, such as a program that
// somebody keeps, only where the name stands before a colon.
func mayHold(text []byte) bool {
	text = lowered(unescaped(text))
	begun := bytes.TrimLeft(text, " \t\r\n\ufeff")
	braced := len(begun) > 0 && (begun[0] == '{' || begun[0] == '[')
	return slices.ContainsFunc(memberNames(), func(name string) bool {
		for rest := text; ; {
			i := bytes.Index(rest, lowered([]byte(name)))
			if i < 0 {
				return false
			}
			rest = rest[i+len(name):]
			after := bytes.TrimLeft(rest, "\\\"' \t\r\n")
			if braced || len(after) > 0 && after[0] == ':' {
				return true
			}
		}
	})
}

// unescaped spells out escaped letters, wherever they stand.
func unescaped(text []byte) []byte {
	var out []byte
	for {
		i := escapedLetter(text)
		if i < 0 {
			return append(out, text...)
		}
		c, err := hex.DecodeString(string(text[i+4 : i+6]))
		if err != nil {
			out, text = append(out, text[:i+2]...), text[i+2:]
			continue
		}
		out, text = append(append(out, text[:i]...), c...), text[i+6:]
	}
}

// hexish is the cheap question whether a cell may be spelled in hexadecimal,
// whole or not quite: what it begins with says so.
func hexish(b []byte) bool {
	const enough = 8
	b = bytes.TrimLeft(b[:min(len(b), 4*enough)], " \t\r\n\"'xX\\")
	for _, c := range b[:min(len(b), enough)] {
		if c-'0' > 9 && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return len(b) > 0
}

// hidden reports whether digits that are not quite hexadecimal (torn, or with
// something around them) name a member.
func hidden(text []byte) bool {
	digits := foldDigits(text)
	return slices.ContainsFunc(memberNames(), func(name string) bool {
		return bytes.Contains(digits, foldDigits(hex.AppendEncode(nil, []byte(name))))
	})
}

// foldDigits makes the digits of a letter's two cases the same: they differ in
// the first alone, 4b and 6b, 50 and 70.
func foldDigits(text []byte) []byte {
	out := lowered(text)
	for i, c := range out {
		if c == '4' || c == '5' {
			out[i] = c + 2
		}
	}
	return out
}
