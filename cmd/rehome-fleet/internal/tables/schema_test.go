package tables

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"rehome/schemas"
)

var update = flag.Bool("update", false, "rewrite the schemas")

// schemaDir is where the schemas are published.
const schemaDir = "../../schemas/"

// TestSchemas compares the published schemas of the rows with the columns that the files
// have, as the library reads them.
func TestSchemas(t *testing.T) {
	dir, _ := write(t, testdata+"sdk", Options{})
	for name, c := range map[string]*columns{
		"sessions": columnsOf[Session](), "turns": columnsOf[Turn](), "messages": columnsOf[Message](),
		"tool_calls": columnsOf[ToolCall](), "tool_results": columnsOf[ToolResult](), "losses": columnsOf[Loss](),
	} {
		path := schemaDir + SchemaName(name) + ".schema.json"
		if *update {
			if err := os.WriteFile(path, schemaText(name, c), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := schemas.Read(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var published struct {
			ID         string `json:"$id"`
			Required   []string
			Properties map[string]struct {
				Description, Format string
				Type                any
			}
		}
		if err := json.Unmarshal(text, &published); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, name+Suffix))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, _ := f.Stat()
		file, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := file.Lookup("rehome.schema"); published.ID != "urn:rehome:schema:"+id {
			t.Errorf("%s: the file names the schema %s", name, id)
		}
		var names []string
		for _, column := range file.Schema().Fields() {
			p, ok := published.Properties[column.Name()]
			if names = append(names, column.Name()); !ok || p.Description == "" {
				t.Errorf("%s.%s: not described", name, column.Name())
			}
			if got := fmt.Sprint(p.Type, p.Format); got != typeOf(column) {
				t.Errorf("%s.%s: described as %s, but the file has %s", name, column.Name(), got, typeOf(column))
			}
		}
		if !reflect.DeepEqual(names, published.Required) || len(names) != len(published.Properties) {
			t.Errorf("%s: columns %v, described %v", name, names, published.Required)
		}
	}
}

// typeOf returns the type of a column in the words of a schema.
func typeOf(column parquet.Field) string {
	if !column.Leaf() {
		return "array"
	}
	kind, format := "integer", ""
	switch l := column.Type().LogicalType(); {
	case column.Type().Kind() == parquet.Boolean:
		kind = "boolean"
	case l != nil && l.Value != nil && strings.HasPrefix(fmt.Sprint(l), "TIMESTAMP"):
		kind, format = "string", "date-time"
	case column.Type().Kind() == parquet.ByteArray:
		kind = "string"
	}
	if column.Optional() {
		return "[" + kind + " null]" + format
	}
	return kind + format
}

// schemaText returns the schema of the rows of a table.
func schemaText(table string, c *columns) []byte {
	var b bytes.Buffer
	quote := func(s string) string {
		var q bytes.Buffer
		e := json.NewEncoder(&q)
		e.SetEscapeHTML(false)
		_ = e.Encode(s)
		return strings.TrimSpace(q.String())
	}
	var names []string
	for _, one := range c.list {
		names = append(names, quote(one.name))
	}
	id := SchemaName(table)
	fmt.Fprintf(&b, `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:rehome:schema:%s",
  "title": "row of the Parquet table %s, version 1",
  "description": "A row of %s%s, which `+"`rehome-fleet parquet`"+` writes. Times are in UTC, with milliseconds.",
  "type": "object",
  "additionalProperties": false,
  "required": [%s],
  "properties": {
`, id, table, table, Suffix, strings.Join(names, ", "))
	for i, one := range c.list {
		kind, doc := one.kind, one.doc
		null := kind.Kind() == reflect.Pointer || strings.Contains(one.tag, ",optional")
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if one.private {
			doc += "; NULL with --no-text"
			if kind.Kind() == reflect.Slice {
				doc = one.doc + "; empty with --no-text"
			}
		}
		switch one.bare {
		case "name", "model":
			doc += "; other with --no-text unless rehome knows it"
		case "id":
			doc += "; NULL with --no-text unless it looks like one that a program made"
		}
		if strings.HasSuffix(one.name, "_session") || one.name == "session_id" {
			doc += "; with --no-text, session-N takes the place of one that somebody chose"
		}
		is := ""
		switch {
		case strings.Contains(one.tag, "timestamp"):
			is = `"string"`
		case kind.Kind() == reflect.Slice:
			is = `"array"`
		case kind.Kind() == reflect.Bool:
			is = `"boolean"`
		case kind.Kind() == reflect.String:
			is = `"string"`
		default:
			is = `"integer"`
		}
		if null {
			is = "[" + is + `, "null"]`
		}
		fmt.Fprintf(&b, `    %s: {"description": %s, "type": %s`, quote(one.name), quote(doc), is)
		if strings.Contains(one.tag, "timestamp") {
			b.WriteString(`, "format": "date-time"`)
		}
		if kind.Kind() == reflect.Slice {
			b.WriteString(`, "items": {"type": "string"}`)
		}
		b.WriteString("}")
		if i < len(c.list)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("  }\n}\n")
	return b.Bytes()
}

// TestReportSchema validates the result of the command.
func TestReportSchema(t *testing.T) {
	text, err := os.ReadFile(schemaDir + "parquet-result-1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schemas.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "store.db"), []byte(strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "stream"), os.DirFS(testdata+"stream")); err != nil {
		t.Fatal(err)
	}
	_, rep := write(t, dir, Options{})
	rep.Backup = "x"
	rep.Stores[0].Failed = []FailedSession{{ID: "s"}}
	doc, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil || len(rep.Losses) == 0 {
		t.Errorf("%v: %s", err, doc)
	}
	if err := s.Validate(bytes.Replace(doc, []byte(`"rows":`), []byte(`"lines":`), 1)); err == nil {
		t.Error("another member is valid")
	}
}
