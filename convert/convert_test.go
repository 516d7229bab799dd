package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// leftText is a left store with n rows.
func leftText(n int) string {
	var b strings.Builder
	b.WriteString("left\norigin left\ntable things\n")
	for i := range n {
		fmt.Fprintf(&b, "%d\tvalue %d\n", i+1, i)
	}
	return b.String()
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// tree lists everything under a folder with its content, for comparing.
func tree(t testing.TB, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		line := filepath.ToSlash(rel)
		switch {
		case e.IsDir():
			line += "/"
		case e.Type().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			h := sha256.Sum256(b)
			line += " " + hex.EncodeToString(h[:8])
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// leavesNothing runs f and fails if anything under root is another after it.
func leavesNothing(t *testing.T, root string, f func()) {
	t.Helper()
	before := tree(t, root)
	f()
	if after := tree(t, root); !slices.Equal(before, after) {
		t.Errorf("the folder changed:\nbefore %q\nafter  %q", before, after)
	}
}

func must(t *testing.T, reg *formats.Registry, src, dst string, o Options) *Report {
	t.Helper()
	rep, err := Convert(t.Context(), reg, src, dst, o)
	if err != nil {
		t.Fatalf("convert %s to %s: %v", src, dst, err)
	}
	return rep
}

func TestThereAndBack(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(100))
	reg := fakes(nil, nil)
	rep := must(t, reg, src, filepath.Join(dir, "b"), Options{To: "right"})
	if !rep.Placed || len(rep.Stores) != 1 || rep.Stores[0].Status != Placed || rep.Stores[0].Rows != 100 || rep.Stores[0].Path != "." {
		t.Errorf("report: %+v", rep)
	}
	if s := rep.Stores[0]; s.From != "left" || s.To != "right" || len(s.Sets) != 1 || !strings.HasPrefix(s.Sets[0].Digest, "xxh3:") {
		t.Errorf("store: %+v", s)
	}
	rep = must(t, reg, filepath.Join(dir, "b"), filepath.Join(dir, "c"), Options{}) // no --to: it says where it came from
	if rep.Stores[0].To != "left" {
		t.Errorf("went to %s", rep.Stores[0].To)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "c")); string(got) != leftText(100) {
		t.Errorf("came back as %q", got)
	}
	if got := len(tree(t, dir)); got != 5 { // ., a, b/, b/rows.txt, c
		t.Errorf("something was left: %q", tree(t, dir))
	}
}

// TestVerification: whatever a writer does to the data is found before
// anything is placed. It turns red when the verification step is deleted.
func TestVerification(t *testing.T) {
	cases := map[string]struct {
		right faults
		want  string
	}{
		"a row lost":         {faults{write: func(i int, v string) string { return pick(i == 50, "\x00", v) }}, "things: 100 rows written, 99 read back"},
		"a row doubled":      {faults{write: func(i int, v string) string { return pick(i == 50, v+"\n50\t"+v, v) }}, "things: 100 rows written, 101 read back"},
		"a cell changed":     {faults{write: func(i int, v string) string { return pick(i == 50, "other", v) }}, "things: the content of its 100 rows differs when read back"},
		"a class changed":    {faults{write: func(i int, v string) string { return pick(i == 50, "!withheld", v) }}, "things: the content of its 100 rows differs when read back"},
		"the table renamed":  {faults{schema: func(s *store.Schema) { s.Sets[0].Name = "thing" }}, "things: its description differs when read back"},
		"the origin renamed": {faults{schema: func(s *store.Schema) { s.Origin = "elsewhere" }}, `origin "left" written, "elsewhere" read back`},
		"a torn line":        {faults{write: func(i int, v string) string { return pick(i == 50, "a\nb", v) }}, "torn line"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src := write(t, filepath.Join(dir, "a"), leftText(100))
			leavesNothing(t, dir, func() {
				rep, err := Convert(t.Context(), fakes(nil, &c.right), src, filepath.Join(dir, "b"), Options{To: "right"})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if err != nil && strings.Contains(err.Error(), formats.StagingMark) {
					t.Errorf("the error speaks of the staging folder: %v", err)
				}
				if rep.Placed || rep.Failed() != 1 || rep.Stores[0].Error == nil {
					t.Errorf("report: %+v", rep)
				}
			})
		})
	}
}

func pick[T any](b bool, yes, no T) T {
	if b {
		return yes
	}
	return no
}

func TestReaderThatMiscounts(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3))
	lie := &faults{lies: func(s store.Summary) { s[0].Rows-- }}
	leavesNothing(t, dir, func() {
		_, err := Convert(t.Context(), fakes(lie, lie), src, filepath.Join(dir, "b"), Options{To: "right"})
		if err == nil || !strings.Contains(err.Error(), "read 3 rows, but the reader counted 2") {
			t.Errorf("got %v", err)
		}
	})
}

func TestFailuresLeaveNothing(t *testing.T) {
	full := errors.New("cannot finish")
	cases := map[string]struct {
		left, right faults
		is          error
		want, hint  string
	}{
		"reader breaks":  {left: faults{failAfter: 40}, want: "things: malformed page"},
		"writer cannot":  {right: faults{finish: full}, is: full},
		"source is busy": {left: faults{busy: true}, is: formats.ErrBusy, hint: "stop the client"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src := write(t, filepath.Join(dir, "a"), leftText(100))
			leavesNothing(t, dir, func() {
				_, err := Convert(t.Context(), fakes(&c.left, &c.right), src, filepath.Join(dir, "deep", "er", "b"), Options{To: "right"})
				if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || formats.Hint(err) != c.hint {
					t.Errorf("got %v, hint %q", err, formats.Hint(err))
				}
			})
		})
	}
}

func TestCancelledHalfWay(t *testing.T) {
	for _, at := range []int{0, 1, 50, 99} {
		dir := t.TempDir()
		src := write(t, filepath.Join(dir, "a"), leftText(100))
		ctx, cancel := context.WithCancelCause(t.Context())
		left := &faults{onRow: func(i int) {
			if i == at {
				cancel(errors.New("interrupt")) // as a signal would: with a cause
			}
		}}
		leavesNothing(t, dir, func() {
			rep, err := Convert(ctx, fakes(left, nil), src, filepath.Join(dir, "b"), Options{To: "right"})
			if !errors.Is(err, context.Canceled) || rep.Placed || rep.placeable() != 0 {
				t.Errorf("row %d: %v, %+v", at, err, rep)
			}
		})
	}
}

func TestCancelledWhileReadAgain(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(100))
	ctx, cancel := context.WithCancel(t.Context())
	right := &faults{onRow: func(i int) {
		if i == 50 {
			cancel()
		}
	}}
	leavesNothing(t, dir, func() {
		if _, err := Convert(ctx, fakes(nil, right), src, filepath.Join(dir, "b"), Options{To: "right"}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAllowedLine(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(3)+"9\t!loss\n")
	leavesNothing(t, dir, func() {
		rep, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", Allow: loss.Reshaped})
		if err != nil || rep.Placed || rep.Skipped() != 1 || len(rep.Stores[0].Losses) != 1 || rep.Stores[0].Losses[0].Kind != loss.Dropped {
			t.Errorf("%v: %+v", err, rep)
		}
	})
	if rep := must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right"}); !rep.Placed {
		t.Errorf("%+v", rep)
	}
}

func TestDryRun(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(100))
	plain := must(t, fakes(nil, nil), src, filepath.Join(t.TempDir(), "b"), Options{To: "right"})
	leavesNothing(t, dir, func() {
		rep := must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", DryRun: true})
		if rep.Placed || !rep.DryRun || rep.Stores[0].Status != Checked || rep.Stores[0].Sets[0] != plain.Stores[0].Sets[0] {
			t.Errorf("%+v", rep)
		}
	})
	write(t, filepath.Join(dir, "b"), "in the way")
	if _, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", DryRun: true}); !errors.Is(err, formats.ErrExists) {
		t.Errorf("a dry run promised what would be refused: %v", err)
	}
}

func TestPlanRefusals(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(1))
	junk := write(t, filepath.Join(dir, "junk"), "nothing known")
	lone := write(t, filepath.Join(dir, "lone", "rows.txt"), "right\norigin gone\ntable t\n")
	reg := fakes(nil, nil)
	stranger := fake("stranger", false, nil)
	stranger.Records.Kinds = []formats.Kind{{Name: "others"}}
	reader := fake("reader", false, nil)
	reader.Records, reader.Sessions = nil, &formats.Sessions{}
	reg = formats.NewRegistry(append(reg.All(), stranger, reader)...)
	cases := []struct {
		src  string
		o    Options
		want string
		is   error
	}{
		{src, Options{}, "left: " + src + ": target format unknown", nil},
		{src, Options{To: "nope"}, "nope: unknown format", Misuse{}},
		{src, Options{From: "nope", To: "left"}, "nope: unknown format", Misuse{}},
		{src, Options{To: "stranger"}, "cannot convert left to stranger", nil},
		{src, Options{To: "reader"}, "reader: this format cannot be written", Misuse{}},
		{src, Options{To: "left", Compress: "gzip"}, "only text can be compressed", nil},
		{src, Options{To: "right", Compress: "rar"}, "unknown compression", nil},
		{junk, Options{To: "right"}, "no known format", formats.ErrUnknown},
		{junk, Options{From: "left", To: "right"}, "not a fake", nil},
		{filepath.Join(dir, "absent"), Options{To: "right"}, "no such file", fs.ErrNotExist},
		{filepath.Dir(lone), Options{}, `made from "gone", a format that cannot be written`, nil},
	}
	for _, c := range cases {
		leavesNothing(t, dir, func() {
			_, err := Convert(t.Context(), reg, c.src, filepath.Join(dir, "b"), c.o)
			misuse := errors.As(c.is, new(Misuse))
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !misuse && !errors.Is(err, c.is) || errors.As(err, new(Misuse)) != misuse {
				t.Errorf("%+v: got %v, want %s", c.o, err, c.want)
			}
		})
	}
	_, err := Convert(t.Context(), reg, src, filepath.Join(dir, "b"), Options{})
	if want := "pass --to right"; formats.Hint(err) != want {
		t.Errorf("hint %q, want %q", formats.Hint(err), want)
	}
	for ending, want := range map[string]string{".html": "`rehome show " + src + " --out ", ".md": "`rehome show " + src + " --format markdown`"} {
		_, err := Convert(t.Context(), reg, src, filepath.Join(dir, "b"+ending), Options{})
		if !strings.Contains(formats.Hint(err), want) {
			t.Errorf("hint %q, want %q", formats.Hint(err), want)
		}
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(100))
	seen := map[string]Progress{}
	must(t, fakes(nil, nil), src, filepath.Join(dir, "b"), Options{To: "right", OnProgress: func(p Progress) { seen[p.Stage] = p }})
	if p := seen["checking"]; p.Done != p.Total || p.Done == 0 || p.Stores != 1 {
		t.Errorf("checking ended at %+v", p)
	}
	if p := seen["syncing"]; p.StoresDone != 1 {
		t.Errorf("syncing at %+v", p)
	}
	if p := seen["reading"]; p.Done == 0 || p.Total < p.Done {
		t.Errorf("reading ended at %+v", p)
	}
}
