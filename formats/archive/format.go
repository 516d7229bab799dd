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
			Keeps:  keeps,

			ShardFiles: shardFiles,
		},
		Text:    true,
		Schemas: []string{"archive-manifest-2", "archive-database-2", "archive-row-1", "archive-common-2", "archive-entry-2", "archive-section-1", "archive-trailer-2", "archive-manifest-1"},
		Probe:   probe,
		Check:   check,
	}
}

const (
	manifestName   = "manifest.json"
	attributesName = ".gitattributes"
	databaseName   = "database.json"

	companionSuffix = ".xxh3" // of the file that states the digest of a plain file
)

// attributes is the text of .gitattributes. Common files hold rows that never change, in
// any order: git keeps the lines of both sides.
const attributes = "* -text\n*.common.ndjson merge=union\n"

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if !l.IsDir() || !l.Has(manifestName) {
		return formats.Match{}, nil
	}
	if !bytes.Contains(bytes.Join(bytes.Fields(l.Join(manifestName).Head()), nil), []byte(`"rehome":"archive"`)) {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 100, Evidence: []string{fmt.Sprintf("%s has \"rehome\":\"archive\"", manifestName)}}, nil
}
