package sdkstore

import (
	"bytes"
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
