package jsonl

import (
	"context"

	"rehome/formats"
	"rehome/formats/internal/lines"
)

// Scan searches the lines of the files that Each reads, and of those that sessions also
// have text from, which more returns. more can be nil.
func Scan(ctx context.Context, l *formats.Location, y Layout, s *formats.Scan, more func(*Store, *File) []*File) error {
	for _, err := range Each(ctx, l, y, func(st *Store, f *File, yield func(struct{}, error) bool) bool {
		files := []*File{f}
		if more != nil {
			files = append(files, more(st, f)...)
		}
		for _, one := range files {
			if err := st.each(ctx, one, -1, func(line lines.Line) bool {
				s.Take(f.ID, line.Bytes)
				return true
			}); err != nil {
				return yield(struct{}{}, err)
			}
		}
		return true
	}) {
		return err
	}
	return nil
}
