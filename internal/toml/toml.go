// Package toml is the only door to the library that reads TOML.
package toml

import (
	"encoding/json"
	"errors"

	"github.com/BurntSushi/toml"
)

// maxSize bounds what is read: settings that people write, and that nest to no end in no
// more bytes than these.
const maxSize = 256 << 10

// JSON returns a TOML document as JSON.
func JSON(b []byte) ([]byte, error) {
	if len(b) > maxSize {
		return nil, errors.New("the file is too large")
	}
	doc := map[string]any{}
	if err := toml.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}
