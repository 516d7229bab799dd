package cli

import (
	"rehome/cmd/internal/console"
	"rehome/convert/sessions"
	"rehome/formats"
)

type formatsCmd struct{}

func (formatsCmd) Help() string {
	return `rehome reads formats marked "in" and writes formats marked "out". Formats that store the same kind of records convert
to each other exactly. Any format with sessions "in" converts to any format with sessions "out" through a common
model, and losses are reported.

Examples:

    rehome formats
    rehome formats --json`
}

// formatsResult is the list of formats: schema formats-result-1.
type formatsResult struct {
	Formats []formatRow `json:"formats"`
}

type formatRow struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Reads    bool     `json:"reads"`
	Writes   bool     `json:"writes"`
	Decodes  bool     `json:"decodes"` // its sessions can be read
	Encodes  bool     `json:"encodes"` // its sessions can be written
	Checks   bool     `json:"checks"`  // rehome check has rules for it
	Text     bool     `json:"text"`
	Families []string `json:"families"`
	Schemas  []string `json:"schemas"`
}

func (formatsCmd) Run(a *console.App) error { return a.Out.Print(a.Ctx, listFormats(a.Reg)) }

func listFormats(reg *formats.Registry) *formatsResult {
	res := &formatsResult{Formats: []formatRow{}}
	for _, f := range reg.All() {
		res.Formats = append(res.Formats, formatRow{
			Name: f.Name, Title: f.Title, Reads: f.Records != nil, Writes: f.Records != nil, Decodes: sessions.Readable(reg, f).Sessions != nil,
			Encodes: f.Writer != nil, Checks: f.Check != nil, Text: f.Text,
			Families: kinds(f), Schemas: console.NonNil(f.Schemas),
		})
	}
	return res
}

// kinds returns the names of the kinds of records of a format.
func kinds(f *formats.Format) []string {
	out := []string{}
	if f.Records != nil {
		for _, k := range f.Records.Kinds {
			out = append(out, k.Name)
		}
	}
	return out
}
