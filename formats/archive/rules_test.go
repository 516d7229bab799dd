package archive

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest"
	"rehome/formats/rule"
)

// asked is what the rules find in an archive, a line each, sorted.
func asked(t *testing.T, path string, layers rule.Layers) (out []string) {
	t.Helper()
	for _, f := range formatstest.Findings(t, Format(), path, layers, 2) {
		out = append(out, strings.TrimRight(f.Rule+" "+f.At.String()+" "+f.Pointer, " "))
	}
	slices.Sort(out)
	return out
}

const everything = rule.Container | rule.Schema | rule.References | rule.Meaning

// TestRulesSpareArchives: there is nothing to say of an archive as it is
// written, split, compressed or not.
func TestRulesSpareArchives(t *testing.T) {
	for _, compress := range []string{"", "gzip", "zstd"} {
		dir := filepath.Join(t.TempDir(), "archive")
		newSample(3, 300).write(t, dir, compress, 2, 50)
		if got := asked(t, dir, everything); got != nil {
			t.Errorf("%q:\n%s", compress, strings.Join(got, "\n"))
		}
	}
}

// TestRulesOfStreams: what is wrong with a compressed stream is found where it
// is, as far as there are lines.
func TestRulesOfStreams(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(b []byte) []byte
		want string
	}{
		"cut":     {func(b []byte) []byte { return b[:len(b)/2] }, "RH120 two.db/records.ndjson.zst"},
		"damaged": {func(b []byte) []byte { b[len(b)/2] ^= 0x55; return b }, "RH120 two.db/records.ndjson.zst"},
		"empty":   {func([]byte) []byte { return nil }, "RH383 two.db/records.ndjson.zst"},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		newSample(3, 300).write(t, dir, "zstd", 2, 50)
		path := filepath.Join(dir, "two.db", "records.ndjson.zst")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, c.harm(b), 0o666); err != nil {
			t.Fatal(err)
		}
		got := asked(t, dir, everything)
		if !slices.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %s", name, got, c.want)
		}
		if len(got) > 1 && c.want[:5] == "RH120" {
			t.Errorf("%s: of a stream that breaks off nothing else is said: %q", name, got)
		}
	}
}

// TestRulesOfLinks: an archive holds no links, and none is followed.
func TestRulesOfLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	newSample(3, 20).write(t, dir, "", 2, 50)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("[1,2,3]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "two.db", "empty.ndjson")
	_ = os.Remove(at)
	if err := os.Symlink(outside, at); err != nil {
		t.Logf("no links here: %v", err)
		return
	}
	if got, want := asked(t, dir, everything), []string{"RH381 two.db/empty.ndjson"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
