package archive

import "testing"

// TestDevices: only the names that Windows reserves are refused, with any
// extension, and no name that merely begins like one.
func TestDevices(t *testing.T) {
	for _, name := range []string{"con", "PRN", "aux.txt", "nul", "conin$", "CONOUT$", "com1", "COM9.json", "lpt3", "com²", "lpt¹.x", "com0", "nul  .txt"} {
		if !device(name) {
			t.Errorf("%q is taken for a file name", name)
		}
	}
	for _, name := range []string{"comm1.json", "coml5", "complot5", "lptt1", "lptcom1", "com", "lpt", "com10", "com1x", "console", "null", "mcom1", "1com", ""} {
		if device(name) {
			t.Errorf("%q is taken for a device", name)
		}
	}
}
