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

// TestMergingInSteps: sessions of clashing ids are told apart in steps that grow
// with their number, not with its square, whatever their folders are.
func TestMergingInSteps(t *testing.T) {
	shapes := map[string]func(i, n int) session.Head{
		"one id, many folders": func(i, _ int) session.Head { return session.Head{ID: "x", Workspace: fmt.Sprint("/w/", i)} },
		"one id, no folder":    func(int, int) session.Head { return session.Head{ID: "x"} },
		"one id, half of folders": func(i, n int) session.Head {
			return session.Head{ID: "x", Workspace: pick(i < n/2, fmt.Sprint("/w/", i), "")}
		},
		"one id, many clients": func(i, _ int) session.Head { return session.Head{ID: "x", Agent: fmt.Sprint("a", i)} },
		"many ids":             func(i, _ int) session.Head { return session.Head{ID: fmt.Sprint(i)} },
		"two of each id": func(i, _ int) session.Head {
			return session.Head{ID: fmt.Sprint(i / 2), Workspace: pick(i%2 == 0, "/w", "")}
		},
	}
	for name, shape := range shapes {
		steps := func(n int) int {
			m := &merger{of: map[sameID]*duplicates{}}
			for i := range n {
				m.add(shape(i, n), Source{Path: fmt.Sprintf("/s/%d/store.db", i)})
			}
			return m.steps
		}
		if a, b := steps(2000), steps(16000); b > 10*a {
			t.Errorf("%s: %d steps for 2,000, %d for 16,000", name, a, b)
		}
	}
}

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
