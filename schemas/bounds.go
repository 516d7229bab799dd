package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	maxDepth    = 512
	maxDigits   = 1000 // characters of one number
	maxExponent = 400
)

// bounded rejects numbers that are too expensive for the schema library: it
// computes with exact fractions, so that 1e5000000 takes minutes, or all memory.
// All other errors in the text are left to the decoder.
func bounded(doc []byte) error {
	depth := 0
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '"':
			i = stringEnd(doc, i)
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return fmt.Errorf("byte %d: nested deeper than %d", i, maxDepth)
			}
		case c == ']' || c == '}':
			depth--
		case c == '-' || c >= '0' && c <= '9':
			end := numberEnd(doc, i)
			if err := boundedNumber(doc[i:end]); err != nil {
				return fmt.Errorf("byte %d: %w", i, err)
			}
			i = end - 1
		}
	}
	return nil
}

// stringEnd is the index of the quote that ends the string begun at i.
func stringEnd(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i
}

func numberEnd(doc []byte, i int) int {
	for i < len(doc) && (doc[i] >= '0' && doc[i] <= '9' || bytes.IndexByte([]byte("+-.eE"), doc[i]) >= 0) {
		i++
	}
	return i
}

func boundedNumber(b []byte) error {
	if len(b) > maxDigits {
		return fmt.Errorf("a number of more than %d characters", maxDigits)
	}
	at := bytes.IndexAny(b, "eE")
	if at < 0 {
		return nil
	}
	e, err := strconv.Atoi(string(b[at+1:]))
	if errors.Is(err, strconv.ErrRange) || err == nil && (e > maxExponent || e < -maxExponent) {
		return fmt.Errorf("a number with an exponent beyond ±%d", maxExponent)
	}
	return nil // misspelled: the decoder says so
}

// decode reads one JSON value and nothing after it. Numbers keep their spelling.
func decode(doc []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, syntax(d, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("byte %d: more text after the end of the JSON value", d.InputOffset())
	}
	return v, nil
}

// syntax words a decoding error without the text it is about.
func syntax(d *json.Decoder, err error) error {
	if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
		return fmt.Errorf("byte %d: not valid JSON", se.Offset)
	}
	if errors.Is(err, io.EOF) {
		return errors.New("byte 0: empty, where JSON should be")
	}
	return fmt.Errorf("byte %d: the JSON is incomplete", d.InputOffset())
}
