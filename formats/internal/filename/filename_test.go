package filename

import (
	"strings"
	"testing"
)

// TestDevice: only the names that Windows reserves are devices, with any extension, and
// no name that merely begins like one.
func TestDevice(t *testing.T) {
	for _, name := range []string{"con", "PRN", "aux.txt", "nul", "conin$", "CONOUT$", "com1", "COM9.json", "lpt3", "com²", "lpt¹.x", "com0", "nul  .txt"} {
		if !Device(name) {
			t.Errorf("%q is taken for a file name", name)
		}
	}
	for _, name := range []string{"comm1.json", "coml5", "complot5", "lptt1", "lptcom1", "com", "lpt", "com10", "com1x", "console", "null", "mcom1", "1com", ""} {
		if Device(name) {
			t.Errorf("%q is taken for a device", name)
		}
	}
}

func TestSafe(t *testing.T) {
	for _, name := range []string{"a", "a-b_c0", "0", "_", "a-", strings.Repeat("x", MaxLen)} {
		if !Safe(name) {
			t.Errorf("%q is safe", name)
		}
	}
	for _, name := range []string{"", "-a", "A", "a.b", "a b", "ä", "con", "lpt1", "../a", strings.Repeat("x", MaxLen+1)} {
		if Safe(name) {
			t.Errorf("%q is not safe", name)
		}
	}
}

func TestHash(t *testing.T) {
	hash := HashOf("/w/app")
	if !IsHash(hash) || hash == HashOf("/w/app/") {
		t.Errorf("%q", hash)
	}
	for _, name := range []string{"", hash[1:], hash + "0", strings.ToUpper(hash), "g" + hash[1:]} {
		if IsHash(name) {
			t.Errorf("%q is not a hash", name)
		}
	}
}
