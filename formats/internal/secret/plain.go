package secret

import (
	"bytes"
	"io"
	"slices"

	"rehome/internal/rawjson"
)

const (
	wholeFile = 16 << 20 // of a larger file one line at a time is looked at,
	overlap   = 1 << 10  // or, where even a line is larger, pieces that overlap
)

// Holds reports whether a file that lies in no table holds a secret: a member
// of its JSON, in whatever lines, or anything that looks like one where it is
// no JSON. Nobody can say where to cut such a file, so all of it stays home.
func Holds(in io.Reader) (bool, error) {
	text, err := io.ReadAll(io.LimitReader(in, wholeFile))
	if err != nil {
		return false, err
	}
	if len(text) < wholeFile {
		return holds(text), nil
	}
	for {
		keep := bytes.LastIndexByte(text, '\n') + 1
		if keep == 0 {
			if keep = len(text) - overlap; named(text) {
				return true, nil
			}
		} else if linesHold(text[:keep]) {
			return true, nil
		}
		have := copy(text[:wholeFile], text[keep:])
		n, err := io.ReadFull(in, text[have:wholeFile])
		text = text[:have+n]
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return linesHold(text), nil
		case err != nil:
			return false, err
		}
	}
}

// holds judges a whole file.
func holds(text []byte) bool {
	if !memberEnding().in(text) {
		return hidden(text)
	}
	held, err := member(text)
	return held || err != nil && linesHold(text)
}

// member looks for a secret among the members of JSON.
func member(text []byte) (held bool, err error) {
	err = rawjson.Find(text, match(0), func(m rawjson.Member) bool {
		held = !bytes.Equal(text[m.From:m.To], []byte("null")) && !bytes.Equal(text[m.From:m.To], []byte(`""`))
		return !held
	})
	return held, err
}

// linesHold judges lines, each JSON or not. Where JSON is spread over several
// of them, a name and its colon may be on two.
func linesHold(text []byte) bool {
	for line := range bytes.Lines(text) {
		if !memberEnding().in(line) {
			continue
		}
		held, err := member(line)
		if held || ends(line) || err != nil && mayHold(line) {
			return true
		}
	}
	return hidden(text)
}

// ends reports whether a line ends in a member's name.
func ends(line []byte) bool {
	line = bytes.TrimRight(lowered(unescaped(line)), "\" \t\r\n")
	return slices.ContainsFunc(memberNames(), func(name string) bool { return bytes.HasSuffix(line, lowered([]byte(name))) })
}

// named reports whether text has a member's name in it at all.
func named(text []byte) bool {
	folded := lowered(unescaped(text))
	return hidden(text) || slices.ContainsFunc(memberNames(), func(name string) bool {
		return bytes.Contains(folded, lowered([]byte(name)))
	})
}
