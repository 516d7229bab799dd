package mend

import (
	"context"
	"os"

	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// plan is what lines need to know of later ones.
type plan struct {
	first int64          // the first time in the file, in milliseconds; 0 if there is none
	late  map[int][]late // late results, by the line of their call
	twins bool           // an id of a call was used again: results are counted
}

// late is a result that follows another answer.
type late struct {
	finding rule.Finding
	block   []byte
	extra   []byte // its toolUseResult, if the line holds nothing else
}

// maxLate is how many bytes of late results are held; a later round moves the others.
const maxLate = 64 << 20

// collect reads the file for the plan, if a finding needs it.
func (m *file) collect(ctx context.Context) error {
	calls := map[int]int{} // the line of a late result to that of its call
	needed := false
	for _, f := range m.r.Findings {
		switch f.Rule {
		case "RH362":
			if n, ok := f.Args[0].(int32); ok {
				calls[f.At.Line], needed = int(n), true
			}
		case "RH363":
			m.plan.twins = true
		case "RH441":
			needed = true
		}
	}
	if !needed {
		return nil
	}
	in, err := os.Open(m.path)
	if err != nil {
		return err
	}
	defer in.Close()
	m.plan.late = map[int][]late{}
	held := 0
	for l, err := range lines.Each(ctx, in, linerepair.MaxLine) {
		if err != nil {
			return err
		}
		if m.plan.first == 0 {
			m.plan.first = timeOf(l.Bytes)
		}
		call, ok := calls[l.Number]
		if !ok || held > maxLate {
			continue
		}
		content := blocks(l.Bytes)
		for _, f := range m.byLine[l.Number] {
			if n, ok := index(f.Pointer); f.Rule == "RH362" && ok && n < len(content) {
				one := late{finding: f, block: append([]byte(nil), content[n]...)}
				if len(content) == 1 {
					one.extra = append([]byte(nil), rawjson.Last(l.Bytes, "toolUseResult")...)
				}
				held += len(one.block) + len(one.extra)
				m.plan.late[call] = append(m.plan.late[call], one)
			}
		}
	}
	return nil
}

// timeOf returns the time of a line in milliseconds, 0 if it has none.
func timeOf(b []byte) int64 { return jsonl.Time(rawjson.Last(b, shape.Names[shape.Time])).Millis() }
