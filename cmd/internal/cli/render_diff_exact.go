package cli

import (
	"cmp"
	"strings"

	"rehome/cmd/internal/screen"
	"rehome/convert/diff"
)

// exactResult is the result of diff --exact: schema diff-records-1.
type exactResult struct {
	Same    int         `json:"same"`
	Added   int         `json:"added"`
	Removed int         `json:"removed"`
	Changed int         `json:"changed"`
	More    int         `json:"more_records,omitempty"`
	Without []string    `json:"not_compared,omitempty"`
	Failed  []string    `json:"failed"`
	Pairs   []exactPair `json:"pairs"`
	stat    bool
}

type exactPair struct {
	Change  string       `json:"change"`
	Before  *exactPlace  `json:"before,omitempty"`
	After   *exactPlace  `json:"after,omitempty"`
	Schema  []diffMember `json:"schema,omitempty"`
	Records []exactRow   `json:"records,omitempty"`
}

type exactPlace struct {
	Format string `json:"format"`
	Path   string `json:"path"`
}

type exactRow struct {
	At     string       `json:"at"`
	Change string       `json:"change"`
	Cells  []diffMember `json:"cells"`
	More   int          `json:"more_members,omitempty"`
}

func newExactResult(x *diff.Exact, stat bool) *exactResult {
	r := &exactResult{Same: x.Same, Added: x.Added, Removed: x.Removed, Changed: x.Changed, More: x.More, Without: x.NotCompared,
		Failed: []string{}, Pairs: []exactPair{}, stat: stat}
	for _, err := range x.Failed {
		r.Failed = append(r.Failed, err.Error())
	}
	place := func(p *diff.Place) *exactPlace {
		if p == nil {
			return nil
		}
		return &exactPlace{p.Format, p.Store}
	}
	for _, s := range x.Stores {
		one := exactPair{Change: changeOf(s.Before != nil, s.After != nil), Before: place(s.Before), After: place(s.After),
			Schema: newDiffMembers(diff.Fields{List: s.Schema}).Members}
		for _, row := range s.Rows {
			one.Records = append(one.Records, exactRow{row.At, row.Change, newDiffMembers(row.Cells).Members, row.Cells.More})
		}
		r.Pairs = append(r.Pairs, one)
	}
	return r
}

func (r *exactResult) Text(p *screen.Page) {
	if len(r.Failed) > 0 && r.Same+len(r.Pairs) == 0 {
		p.Line("no store could be compared")
		return
	}
	p.Line(diffSummary("store", &diff.Comparison{Added: r.Added, Removed: r.Removed, Changed: r.Changed, Same: r.Same}))
	v := &diffView{}
	lines := &diffPage{Page: p}
	put := lines.put
	for _, s := range r.Pairs {
		name := screen.Visible(cmp.Or(s.After, s.Before).Path)
		if s.Before != nil && s.After != nil && s.Before.Path != s.After.Path {
			name = screen.Visible(s.Before.Path) + " -> " + name
		}
		lines.flush()
		p.Line("")
		p.Wrapped("", screen.Visible(s.Change)+"  "+name, p.Strong)
		p.Linef("  %s", p.Faint(r.counts(&s)))
		if r.stat {
			continue
		}
		for _, f := range s.Schema {
			v.field(1, diff.Field(f), put)
		}
		for _, row := range s.Records {
			put(diffLine{level: 1, text: shortKey(row.At) + "  " + screen.Visible(row.Change)})
			if row.Change == "changed" {
				for _, f := range row.Cells {
					v.field(2, diff.Field(f), put)
				}
				v.more(2, row.More, put)
				continue
			}
			for _, f := range row.Cells {
				name, mark := f.Name+": ", byte('+')
				if f.Name == "line" {
					name = ""
				}
				if row.Change == "removed" {
					mark = '-'
				}
				put(diffLine{level: 3, mark: mark, text: screen.Visible(name + f.Before + f.After)})
			}
		}
	}
	lines.flush()
	for _, path := range r.Without {
		p.Wrapped("", "not compared: sidecar "+screen.Visible(path)+", since the other side needs none", screen.Plain)
	}
	if r.More > 0 {
		p.Linef("and %s", screen.Plural(int64(r.More), "more record"))
	}
}

// shortKey returns the address of a record with the start of its key.
func shortKey(at string) screen.Safe {
	const kept = len(" (") + 12
	if i := strings.LastIndex(at, " ("); i > 0 && len(at)-i > kept+len("…)") {
		at = at[:i+kept] + "…)"
	}
	return screen.Visible(at)
}

// counts says how many records of a store differ.
func (r *exactResult) counts(s *exactPair) screen.Safe {
	n := map[string]int{}
	for _, row := range s.Records {
		n[row.Change]++
	}
	var parts []screen.Safe
	if len(s.Schema) > 0 {
		parts = append(parts, "schema changed")
	}
	if parts = append(parts, changes("record", n["added"], n["removed"], n["changed"])...); len(parts) == 0 {
		parts = append(parts, screen.Visible(cmp.Or(s.After, s.Before).Format))
	}
	return screen.Join(parts, ", ")
}
