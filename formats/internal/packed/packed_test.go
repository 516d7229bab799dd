package packed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

func TestKinds(t *testing.T) {
	for name, want := range map[string]Kind{"": None, "none": None, "gzip": Gzip, "zstd": Zstd} {
		if k, err := ParseKind(name); err != nil || k != want || name != "" && k.String() != name {
			t.Errorf("ParseKind(%q) = %v, %v", name, k, err)
		}
	}
	if _, err := ParseKind("brotli"); err == nil {
		t.Error("brotli is accepted")
	}
	if None.Ext()+Gzip.Ext()+Zstd.Ext() != ".gz.zst" {
		t.Error("wrong extensions")
	}
}

// text is deterministic, compressible, and different everywhere.
func text(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"key":"bubbleId:%x","value":{"text":"%d words","n":%d}}`+"\n", r.Uint64(), r.IntN(100), r.IntN(10))
	}
	return b.Bytes()[:n]
}

func pack(t testing.TB, k Kind, jobs, step int, in []byte) []byte {
	t.Helper()
	if k == None {
		return in
	}
	var out bytes.Buffer
	w := NewWriter(&out, k, jobs)
	for len(in) > 0 {
		n := min(step, len(in))
		if m, err := w.Write(in[:n]); m != n || err != nil {
			t.Fatal(m, err)
		}
		in = in[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal("second close:", err)
	}
	if _, err := w.Write([]byte("x")); err == nil {
		t.Fatal("a closed writer takes more")
	}
	return out.Bytes()
}

func unpack(packed []byte, jobs int) ([]byte, error) {
	r, err := NewReader(bytes.NewReader(packed), jobs)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestRoundTrip(t *testing.T) {
	all := text(2*FrameSize + 12345)
	for _, k := range []Kind{None, Gzip, Zstd} {
		for _, n := range []int{0, 1, 3, 70000, FrameSize - 1, FrameSize, FrameSize + 1, len(all)} {
			packed := pack(t, k, 2, 1<<20, all[:n])
			if back, err := unpack(packed, 1+n%2); err != nil || !bytes.Equal(back, all[:n]) {
				t.Errorf("%v of %d bytes: %d bytes come back, %v", k, n, len(back), err)
			}
		}
	}
}

func TestBytesDoNotDependOnWorkers(t *testing.T) {
	in := text(3*FrameSize + 99)
	for _, k := range []Kind{Gzip, Zstd} {
		want := pack(t, k, 1, len(in), in)
		for jobs, step := range map[int]int{1: 777777, 2: 4097, 3: FrameSize, 8: len(in), 0: FrameSize + 1} {
			if !bytes.Equal(pack(t, k, jobs, step, in), want) {
				t.Errorf("%v: other bytes with %d workers and writes of %d", k, jobs, step)
			}
		}
		// Each frame stands for itself: a longer stream begins with the same bytes.
		if longer := pack(t, k, 2, len(in), append(in[:3*FrameSize:3*FrameSize], text(500)...)); !bytes.HasPrefix(longer, want[:len(want)-5000]) {
			t.Errorf("%v: frames depend on what follows", k)
		}
	}
}

func TestGzipHeaderTellsNothing(t *testing.T) {
	head := pack(t, Gzip, 1, 10, text(10))[:10]
	if want := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}; !bytes.Equal(head, want) {
		t.Errorf("header % x, want % x", head, want)
	}
}

func TestReaderPassesThrough(t *testing.T) {
	for _, s := range []string{"", "{", "{}\n", "\x1f", "plain text", "\x28\xb5\x2f"} {
		if back, err := unpack([]byte(s), 1); err != nil || string(back) != s {
			t.Errorf("%q comes back as %q, %v", s, back, err)
		}
	}
	broken := errors.New("broken")
	if _, err := NewReader(iotest.ErrReader(broken), 1); !errors.Is(err, broken) {
		t.Errorf("a broken source gives %v", err)
	}
	r, err := NewReader(io.MultiReader(bytes.NewReader(pack(t, Zstd, 1, 99, text(99))), iotest.ErrReader(io.ErrUnexpectedEOF)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.ReadAll(r); err == nil {
		t.Error("a source that breaks off between frames is taken for whole")
	}
}

type full struct{ room int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterReportsAFullDisk(t *testing.T) {
	in := text(5 * FrameSize)
	for _, k := range []Kind{Gzip, Zstd} {
		w := NewWriter(&full{room: 100}, k, 2)
		_, werr := w.Write(in)
		if err := errors.Join(werr, w.Close()); !errors.Is(err, errFull) {
			t.Errorf("%v: %v", k, err)
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("%v: a second close says %v", k, err)
		}
	}
}
