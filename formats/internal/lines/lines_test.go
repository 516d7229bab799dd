package lines

import (
	"context"
	"errors"
	"io"
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
