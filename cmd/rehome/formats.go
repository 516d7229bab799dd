package main

import "rehome/formats"

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
	Encodes  bool     `json:"encodes"` // and written
	Checks   bool     `json:"checks"`  // whether stores of it are whole can be asked
	Text     bool     `json:"text"`
	Families []string `json:"families"`
	Schemas  []string `json:"schemas"`
}

func (formatsCmd) Run(h *house) error { return h.out.show(listFormats(h.reg)) }

func listFormats(reg *formats.Registry) *formatsResult {
	res := &formatsResult{Formats: []formatRow{}}
	for _, f := range reg.All() {
		res.Formats = append(res.Formats, formatRow{
			Name: f.Name, Title: f.Title, Reads: f.Open != nil, Writes: f.Create != nil, Decodes: f.Decode != nil, Encodes: f.Encode != nil, Checks: f.Check != nil, Text: f.Text,
			Families: list(f.Families), Schemas: list(f.Schemas),
		})
	}
	return res
}

// list keeps an empty list from becoming null in JSON.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
