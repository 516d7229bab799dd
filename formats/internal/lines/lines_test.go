package lines

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

func TestEach(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a", []string{"0 a torn"}},
		{"a\n", []string{"0 a"}},
		{"a\r\n\n b\nc", []string{"0 a\r", "3 ", "4  b", "7 c torn"}},
		{"\ufeffa\nb\n", []string{"3 a", "5 b"}},
		{"12345678901\nx\n", []string{"0 1234567890 long", "12 x"}},
		{"12345678901", []string{"0 1234567890 long torn"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			var got []string
			for l, err := range Each(context.Background(), r, 10) {
				if err != nil {
					t.Fatal(err)
				}
				s := strconv.FormatInt(l.Offset, 10) + " " + string(l.Bytes)
				if l.Long {
					s += " long"
				}
				if !l.Ended {
					s += " torn"
				}
				got = append(got, s)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q: %q, want %q", c.text, got, c.want)
			}
		}
	}
}

// TestEachBounds: a line that is longer than allowed takes no more memory than one that is
// not, and of a long line in pieces nothing is lost.
func TestEachBounds(t *testing.T) {
	const most = 32 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for l, err := range Each(t.Context(), io.LimitReader(endless{}, 4*most), most) {
		if n++; err != nil || !l.Long || l.Ended || len(l.Bytes) == 0 || len(l.Bytes) > most {
			t.Errorf("%d bytes, %v", len(l.Bytes), err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; n != 1 || got > most*5/4 {
		t.Errorf("%d lines, %d MB allocated for a line of at most %d MB", n, got>>20, most>>20)
	}
	want := strings.Repeat("0123456789abcdef-", 300_000)
	for l, err := range Each(t.Context(), strings.NewReader(want+"\n"+want[:99]), most) {
		if err != nil || string(l.Bytes) != want && string(l.Bytes) != want[:99] {
			t.Errorf("line %d: %d bytes, %v", l.Number, len(l.Bytes), err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEachStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range Each(ctx, iotest.OneByteReader(strings.NewReader("a\nb\nc\n")), 10) {
		if n++; n == 1 {
			cancel()
		} else if !errors.Is(err, context.Canceled) {
			t.Fatal("it went on", err)
		}
	}
	broken := errors.New("broken")
	for _, err := range Each(context.Background(), iotest.ErrReader(broken), 10) {
		if !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
}

type countingReader struct {
	io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestEachReadsLittle: who stops early has not read much more than was given.
func TestEachReadsLittle(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<16)
	for _, want := range []int{1, 100, 1000, 1 << 16} {
		r := &countingReader{Reader: strings.NewReader(text)}
		n := 0
		for _, err := range Each(context.Background(), r, 100) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == want {
				break
			}
		}
		if most := max(firstPiece, 3*16*want); r.n > most {
			t.Errorf("%d lines: %d bytes read, %d would do", want, r.n, most)
		}
	}
}

func TestConflict(t *testing.T) {
	for _, text := range []string{"<<<<<<< HEAD", "{}\n||||||| base\n", "=======\r\n", "{}\n=======", ">>>>>>> other\n"} {
		if !Conflict([]byte(text)) {
			t.Errorf("%q: no conflict", text)
		}
	}
	for _, text := range []string{"", "{}\n", "{\"<<<<<<< \":1}\n", "========\n", " =======\n"} {
		if Conflict([]byte(text)) {
			t.Errorf("%q: a conflict", text)
		}
	}
}
