package verdict

import (
	"io"
	"strconv"

	"rehome/cmd/internal/screen"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// TSV prints a line for each finding: file, place in the file, severity, rule and message,
// separated by tabs. A path that could not be examined has no place and no rule.
func (v *Verdict) TSV(w io.Writer, wd string) error {
	p := screen.NewPage(w, false)
	line := func(file, place, severity, id, message string) {
		p.Line(screen.Join([]screen.Safe{screen.Visible(file), screen.Visible(place), screen.Visible(severity), screen.Visible(id), screen.Visible(message)}, "\t"))
	}
	for _, s := range v.Stores {
		if s.Err != nil {
			line(slashPath(s.Path, wd), "", rule.Error.String(), "", "not fully examined: "+s.Err.Error())
		}
		for _, b := range v.listed(s) {
			for _, f := range b.Places {
				message := b.Rule.Title
				if more := detail(f); more != "" {
					message += ": " + more
				}
				line(slashPath(s.File(f.At), wd), placeInFile(f.At), b.Rule.Severity.String(), b.Rule.ID, message)
			}
			if rest := b.Count - int64(len(b.Places)); rest > 0 {
				line(slashPath(s.Path, wd), "", b.Rule.Severity.String(), b.Rule.ID, string(screen.Plural(rest, "more finding")))
			}
		}
	}
	return p.Err()
}

// placeInFile returns the line in a text file, or the address in a database.
func placeInFile(at store.Addr) string {
	if at.Set == "" && at.Line > 0 {
		return strconv.Itoa(at.Line)
	}
	return addrInFile(at)
}
