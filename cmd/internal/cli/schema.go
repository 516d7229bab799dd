package cli

import (
	"encoding/json"
	"fmt"
	"slices"

	"rehome/cmd/internal/console"
	"rehome/formats"
	"rehome/internal/closest"
	"rehome/schemas"
)

type schemaCmd struct {
	Name string `arg:"" optional:"" help:"Schema to print (default: list all names)"`
}

func (schemaCmd) Help() string {
	return `Every text format that rehome writes has a schema, and so does the --json result of every command.

Examples:

    rehome schema
    rehome schema archive-manifest-2 > manifest.schema.json`
}

// schemaList is the list of published schemas: schema schema-result-1.
type schemaList struct {
	Schemas []schemaRow `json:"schemas"`
}

type schemaRow struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Run prints a schema as published, which is one JSON object. Without a name,
// it lists all schemas.
func (c *schemaCmd) Run(a *console.App) error {
	if c.Name == "" {
		return c.list(a)
	}
	if !slices.Contains(schemas.Names(), c.Name) {
		return &formats.Error{Op: "schema", At: c.Name, Err: fmt.Errorf("no such schema"),
			Hint: closest.Hint(c.Name, schemas.Names(), "run `rehome schema` to list them")}
	}
	text, err := schemas.Text(c.Name)
	if err != nil {
		return err
	}
	_, err = a.Out.Stdout.Write(text)
	return err
}

func (c *schemaCmd) list(a *console.App) error {
	res := &schemaList{Schemas: []schemaRow{}}
	for _, name := range schemas.Names() {
		text, err := schemas.Text(name)
		if err != nil {
			return err
		}
		var head struct {
			ID    string `json:"$id"`
			Title string `json:"title"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return &formats.Error{Op: "schema", At: name, Err: err}
		}
		res.Schemas = append(res.Schemas, schemaRow{name, head.ID, head.Title})
	}
	return a.Out.Print(a.Ctx, res)
}
