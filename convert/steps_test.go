package convert

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"rehome/formats"
	"rehome/formats/canonical"
	"rehome/formats/session"
)

// TestSelectionReadsNoOtherStore: of a folder of stores those alone are decoded
// that list a session which is named; all are where one is in no list.
func TestSelectionReadsNoOtherStore(t *testing.T) {
	src := t.TempDir()
	for i := range 8 {
		write(t, filepath.Join(src, fmt.Sprint(i)+".txt"), fmt.Sprintf("talk\nsession s%d Title\nsay hello\nsession t%d Title\nsay hi\n", i, i))
	}
	for _, c := range []struct {
		ids  []string
		want []string
	}{{[]string{"s3"}, []string{"3.txt"}}, {[]string{"s3", "t3", "t5"}, []string{"3.txt", "5.txt"}}, {[]string{"s3", "inner"}, []string{"0.txt", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt", "6.txt", "7.txt"}}} {
		var mu sync.Mutex
		var read []string
		f := talk(nil)
		decode := f.Sessions.Decode
		f.Sessions.Heads = func(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
			return func(yield func(*session.Head, error) bool) {
				for s, err := range decode(ctx, l, v, session.Selection{}) {
					if s != nil && !yield(&s.Head, err) {
						return
					}
				}
			}
		}
		f.Sessions.Decode = func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
			mu.Lock()
			defer mu.Unlock()
			read = append(read, l.Name())
			return func(yield func(*session.Session, error) bool) {
				for s, err := range decode(ctx, l, v, sel) {
					if s != nil && !sel.Includes(s.ID) {
						continue
					}
					if !yield(s, err) {
						return
					}
				}
			}
		}
		rep, err := Convert(t.Context(), formats.NewRegistry(f, canonical.Format()), src, filepath.Join(t.TempDir(), "out"), Options{To: "canonical", Sessions: c.ids})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(read)
		if read = slices.Compact(read); !slices.Equal(read, c.want) {
			t.Errorf("%q: %q were read", c.ids, read)
		}
		if n := rep.Sessions(Placed); n != len(c.ids)-len(c.want)/8 {
			t.Errorf("%q: %d placed", c.ids, n)
		}
	}
}
