package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"rehome/cmd/internal/screen"
	"rehome/convert/diff"
	"rehome/formats/session"
)

// diffResult is the result of diff: schema diff-result-1. The sessions are written one by
// one.
type diffResult struct {
	Same     int           `json:"same"`
	Added    int           `json:"added"`
	Removed  int           `json:"removed"`
	Changed  int           `json:"changed"`
	Across   int           `json:"across_clients,omitempty"`
	Failed   []string      `json:"failed"`
	Compared []diffSession `json:"compared"`
}

type diffSession struct {
	Change string     `json:"change"` // added, removed or changed
	ID     string     `json:"id"`
	Title  string     `json:"title,omitempty"`
	Client string     `json:"client"`
	Before *diffPlace `json:"before,omitempty"`
	After  *diffPlace `json:"after,omitempty"`
	Turns  *diffTurns `json:"turns,omitempty"`
	diffMembers
	Parts   []diffChange  `json:"parts,omitempty"`
	Details []diffDetails `json:"details,omitempty"`
	Left    int           `json:"more_details,omitempty"`
	Partial bool          `json:"partial,omitempty"`
}

type diffPlace struct {
	ID     string `json:"id"`
	Format string `json:"format"`
	Path   string `json:"path"`
}

type diffTurns struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

type diffMember struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// diffMembers are members that differ.
type diffMembers struct {
	Members []diffMember `json:"members,omitempty"`
	More    int          `json:"more_members,omitempty"`
}

type diffDetails struct {
	Turn int `json:"turn"`
	diffMembers
}

type diffChange struct {
	Change string    `json:"change"`
	Kind   diff.Kind `json:"kind"`
	Name   string    `json:"name,omitempty"`

	diffMembers
	Long   []diffLong `json:"long,omitempty"`
	Before *diffPart  `json:"before,omitempty"`
	After  *diffPart  `json:"after,omitempty"`
}

type diffLong struct {
	Name   string   `json:"name"`
	Before diffSize `json:"before"`
	After  diffSize `json:"after"`
	Line   int      `json:"first_line,omitempty"`
}

type diffSize struct {
	Lines int `json:"lines"`
	Bytes int `json:"bytes"`
}

type diffPart struct {
	Turn   int             `json:"turn"`
	Text   string          `json:"text,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result *diffCallResult `json:"result,omitempty"`
	Cut    bool            `json:"cut,omitempty"`
}

type diffCallResult struct {
	Status string          `json:"status,omitempty"`
	Error  bool            `json:"error,omitempty"`
	Text   string          `json:"text,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
}

// json prints one object. Its last member is written session by session.
func (v *diffView) json(w io.Writer, c *diff.Comparison) error {
	res := diffResult{Same: c.Same, Added: c.Added, Removed: c.Removed, Changed: c.Changed, Across: c.Across, Failed: []string{}, Compared: []diffSession{}}
	for _, err := range c.Failed {
		res.Failed = append(res.Failed, err.Error())
	}
	head, err := indented(res, "")
	if err != nil {
		return err
	}
	if _, err := w.Write(bytes.TrimSuffix(head, []byte("]\n}"))); err != nil {
		return err
	}
	lead := "\n    "
	err = c.Each(func(s *diff.Session) error {
		one, err := indented(newDiffSession(s), "    ")
		if err == nil {
			_, err = w.Write(append([]byte(lead), one...))
		}
		lead = ",\n    "
		return err
	})
	if err != nil {
		return err
	}
	end := "]\n}\n"
	if lead[0] == ',' {
		end = "\n  ]\n}\n"
	}
	_, err = io.WriteString(w, end)
	return err
}

func indented(v any, prefix string) ([]byte, error) {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	err := enc.Encode(v)
	return screen.JSON(bytes.TrimRight(doc.Bytes(), "\n")), err
}

func newDiffSession(s *diff.Session) *diffSession {
	out := &diffSession{Change: changeOf(s.Before != nil, s.After != nil), ID: s.ID, Title: s.Title, Client: s.Client, diffMembers: newDiffMembers(s.Fields), Left: s.More, Partial: s.Coarse}
	place := func(p *diff.Place) *diffPlace {
		if p == nil {
			return nil
		}
		return &diffPlace{p.ID, p.Format, p.Store}
	}
	out.Before, out.After = place(s.Before), place(s.After)
	if out.Change == "changed" {
		out.Turns = &diffTurns{s.Turns.Added, s.Turns.Removed, s.Turns.Changed}
	}
	for i := range s.Changes {
		out.Parts = append(out.Parts, newDiffChange(&s.Changes[i]))
	}
	for _, d := range s.Details {
		out.Details = append(out.Details, diffDetails{d.Turn, newDiffMembers(d.Fields)})
	}
	return out
}

func newDiffMembers(f diff.Fields) diffMembers {
	out := diffMembers{More: f.More}
	for _, one := range f.List {
		out.Members = append(out.Members, diffMember(one))
	}
	return out
}

func newDiffChange(c *diff.Change) diffChange {
	out := diffChange{Change: changeOf(c.Before != nil, c.After != nil), diffMembers: newDiffMembers(c.Fields), Before: newDiffPart(c.Before), After: newDiffPart(c.After)}
	at := cmp.Or(c.After, c.Before)
	out.Kind, out.Name = at.Kind, at.Name
	for _, l := range c.Longs {
		out.Long = append(out.Long, diffLong{l.Name, diffSize{l.Before.Lines, l.Before.Bytes}, diffSize{l.After.Lines, l.After.Bytes}, l.Line})
	}
	return out
}

func newDiffPart(p *diff.Part) *diffPart {
	if p == nil {
		return nil
	}
	out := &diffPart{Turn: p.Turn, Text: p.Text, Cut: p.Cut}
	if c := p.Call; c != nil {
		if out.Args = validJSON(c.Args); out.Args == nil {
			out.Args = validJSON(c.Input)
		}
	}
	if r := p.Result; r != nil {
		out.Result = &diffCallResult{Status: r.Status, Error: r.Error, Value: validJSON(r.Value), Text: diff.Output(r)}
	}
	return out
}

// validJSON returns a value of a session, nil if it is not JSON.
func validJSON(raw session.Raw) json.RawMessage {
	if len(raw) == 0 || !json.Valid(raw) {
		return nil
	}
	return json.RawMessage(raw)
}
