package archive

import (
	"bytes"
	"context"
	"fmt"

	"rehome/formats"
)

const name = "archive"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:  name,
		Title: "any SQLite store as git-committable text",
		Records: &formats.Records{
			Kinds:  []formats.Kind{{Name: formats.Tables, Schema: formats.AnySchema}, {Name: formats.PlainFiles, Schema: formats.AnySchema}},
			Open:   open,
			Create: create,
		},
		Text:    true,
		Schemas: []string{"archive-manifest-1", "archive-row-1", "archive-section-1"},
		Probe:   probe,
		Check:   check,
	}
}

const (
	manifestName   = "manifest.json"
	attributesName = ".gitattributes"
)

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if !l.IsDir() || !l.Has(manifestName) {
		return formats.Match{}, nil
	}
	if !bytes.Contains(bytes.Join(bytes.Fields(l.Join(manifestName).Head()), nil), []byte(`"rehome":"archive"`)) {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 100, Evidence: []string{fmt.Sprintf("%s has \"rehome\":\"archive\"", manifestName)}}, nil
}
