// Package settings reads the settings of clients: JSON, and TOML.
package settings

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"rehome/internal/rawjson"
	"rehome/internal/toml"
)

// MaxSize bounds a file: that of one client also has the history of all projects.
const MaxSize = 32 << 20

// Read returns a file as JSON, nil if it is none.
func Read(file string) []byte {
	info, err := os.Stat(file)
	if !filepath.IsAbs(file) || err != nil || !info.Mode().IsRegular() || info.Size() > MaxSize {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxSize))
	if err != nil {
		return nil
	}
	if filepath.Ext(file) == ".toml" {
		b, err = toml.JSON(b)
	}
	if err != nil || !json.Valid(b) {
		return nil // the client does not read it either
	}
	return b
}

// Members adds the members of an object in a document to those of others.
func Members(into map[string][]byte, doc []byte, path ...string) {
	for name, v := range rawjson.Members(rawjson.At(doc, path...)) {
		into[string(name)] = v
	}
}

// Texts returns the texts of a list in a document, at most max of them.
func Texts(doc []byte, max int, path ...string) (out []string) {
	for v := range rawjson.Elements(rawjson.At(doc, path...)) {
		if s := rawjson.Text(v); s != "" && len(out) < max {
			out = append(out, s)
		}
	}
	return out
}
