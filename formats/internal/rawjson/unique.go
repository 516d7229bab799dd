package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Unique checks a document that will be decoded into Go values: valid JSON, no
// deeper than MaxDepth, no more than most names, values and brackets, which is
// what decoding costs memory by, and no object with two members of one name, of
// which a decoder would silently keep the last.
func Unique(b []byte, most int) error {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for n := 0; ; n++ {
		_, err := d.ReadToken()
		switch {
		case n > most:
			return &SyntaxError{int(d.InputOffset()), fmt.Sprintf("more than %d names and values", most)}
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return &SyntaxError{int(d.InputOffset()), "duplicate member at " + strconv.QuoteToGraphic(string(d.StackPointer()))}
		case err != nil:
			return &SyntaxError{int(d.InputOffset()), "not valid JSON"}
		case d.StackDepth() > MaxDepth:
			return &SyntaxError{int(d.InputOffset()), msgDeep}
		}
	}
}
