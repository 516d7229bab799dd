package golden

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// owners names the package whose tests compare with each folder or file under golden/. Old text
// under compat/ is read as it was written, and is not made again.
var owners = map[string]string{
	"canonical-to-claude-code":       "formats/claudecode",
	"claude-code-to-canonical":       "formats/claudecode",
	"cmd":                            "cmd/internal/cli",
	"cursor-chat-to-archive":         "cmd/internal/cli",
	"cursor-chat-to-canonical":       "cmd/internal/cli",
	"cursor-ide-to-archive":          "cmd/internal/cli",
	"cursor-ide-to-canonical":        "formats/cursoride",
	"cursor-ndjson-to-canonical":     "cmd/internal/cli",
	"cursor-sdk-to-canonical":        "cmd/internal/cli",
	"cursor-transcript-to-canonical": "formats/cursortranscript",
	"demo.txt":                       "cmd/internal/cli",
	"git":                            "cmd/internal/cli/gittest",
	"opencode-to-canonical":          "formats/opencode",
	"page":                           "cmd/internal/cli",
	"repair":                         "convert/repair",
	"screens":                        "cmd/internal/cli",
	"stream-json-to-canonical":       "formats/streamjson",
	"week":                           "cmd/internal/cli",
}

// Main runs the tests of a package that owns files under golden/. If all of them ran, each of
// these files was compared; one that no test makes any more is a failure.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 && !partial() {
		for _, name := range leftOver() {
			fmt.Fprintf(os.Stderr, "golden/%s: no test compares it; remove it, or the test that made it is gone\n", name)
			code = 1
		}
	}
	os.Exit(code)
}

// partial reports whether only some of the tests were asked for, or are built: those of
// terminals need Linux.
func partial() bool {
	if runtime.GOOS != "linux" {
		return true
	}
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return true
		}
	}
	return false
}

// leftOver lists the files of the package in whose folder the tests run that were not compared.
func leftOver() (names []string) {
	dir, err := os.Getwd()
	if err != nil {
		return []string{err.Error()}
	}
	root, err := folder(dir)
	if err != nil {
		return []string{err.Error()}
	}
	for name, owner := range withLines(root) {
		if dir != filepath.Join(filepath.Dir(root), filepath.FromSlash(owner)) {
			continue
		}
		err := filepath.WalkDir(filepath.Join(root, name), func(path string, d fs.DirEntry, err error) error {
			if _, ok := compared.Load(path); err == nil && !d.IsDir() && !ok {
				names = append(names, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(root)+"/"))
			}
			return err
		})
		if err != nil {
			names = append(names, err.Error())
		}
	}
	return names
}

// withLines returns the owners, with the folders of formats that a table describes: they are
// named after them, and the tests of all formats compare them.
func withLines(root string) map[string]string {
	out := maps.Clone(owners)
	list, _ := os.ReadDir(root)
	for _, e := range list {
		if name := e.Name(); out[name] == "" && strings.HasSuffix(name, "-to-canonical") {
			out[name] = "formats/all"
		}
	}
	return out
}
