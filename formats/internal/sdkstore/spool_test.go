package sdkstore

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
)

// TestSpool: what does not fit is read back from a file.
func TestSpool(t *testing.T) {
	var s Spool
	var at []int64
	piece := make([]byte, spoolHeld/3)
	for i := range 10 {
		piece[0] = byte(i)
		n, err := s.Add(piece[:len(piece)-i])
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, n)
	}
	big := bytes.Repeat([]byte{7}, spoolHeld+1)
	end, err := s.Add(big)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range at {
		b, err := s.Read(n, len(piece)-i)
		if err != nil || b[0] != byte(i) || b[1] != 0 {
			t.Fatal(i, err)
		}
	}
	if b, err := s.Read(end, len(big)); err != nil || !bytes.Equal(b, big) {
		t.Error(err)
	}
	if _, err := s.Read(end, len(big)+1); err == nil {
		t.Error("read beyond its end")
	}
	name := s.file.Name()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Error("its file is still there")
	}
}

// TestWindow: pieces are those of the file, whichever were read before, and
// pieces beyond its end are errors.
func TestWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	file := make([]byte, 200_000)
	for i := range file {
		file[i] = byte(r.Uint32())
	}
	w := Window{In: bytes.NewReader(file)}
	at := 0
	for range 20_000 {
		if r.IntN(4) == 0 {
			at = r.IntN(len(file))
		}
		n := min(r.IntN(9000), len(file)-at)
		if b, err := w.Read(int64(at), n); err != nil || !bytes.Equal(b, file[at:at+n]) {
			t.Fatalf("%d bytes at %d: %v", n, at, err)
		}
		at += n
	}
	for at := range 10 {
		if _, err := w.Read(int64(len(file)-at), at+1); err == nil {
			t.Errorf("%d bytes from the end", at)
		}
	}
}
