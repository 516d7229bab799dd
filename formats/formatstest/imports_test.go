package formatstest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The rules about imports: which package may import which.

const module = "rehome/"

// layers says what a package may import of ours. A name that ends in a slash
// stands for everything below it. The first row that matches a package counts.
func layers() []layer {
	return []layer{
		{"formats/store", nil},
		{"formats/loss", []string{"formats/store"}},
		{"formats/session", []string{"formats/store"}},
		{"formats/rule", []string{"formats/store"}},
		{"formats", []string{"formats/store", "formats/loss", "formats/session", "formats/rule", "internal/closest"}},
		// It knows no database and no file.
		{"formats/internal/sdkstore", []string{"formats", "formats/store", "formats/loss", "formats/internal/digest", "internal/rawjson",
			"formats/internal/sdkdoc", "formats/internal/secret",
			"formats/internal/storecheck", "formats/internal/storedb", "formats/internal/tally", "internal/scratch"}},
		{"formats/internal/cursortools", []string{"formats/loss", "formats/session", "formats/internal/", "internal/rawjson", "internal/shell",
			"internal/udiff"}},
		{"formats/internal/", []string{"formats", "formats/store", "formats/loss", "formats/session", "formats/rule", "formats/internal/",
			"internal/rawjson", "internal/fileid", "internal/process", "internal/scratch", "internal/shell"}},
		// It reads and writes no format: it wraps their readers.
		{"formats/rewrite", []string{"formats", "formats/store", "formats/loss", "internal/rawjson", "formats/internal/secret",
			"formats/internal/tally", "internal/scratch"}},
		{"formats/all", []string{"formats", codecs}},
		{"formats/clients", []string{"formats", "formats/store", "formats/internal/sqlitefile", "formats/internal/tally"}},
		{"formats/formatstest", []string{"formats", "formats/store", "formats/loss", "formats/session", "formats/rule",
			"formats/formatstest/leaves", "schemas"}},
		{"formats/formatstest/leaves", []string{"formats", "formats/loss", "formats/session", "formats/store"}},
		// It judges codecs and what they are made of, so it knows none of it.
		{"formats/formatstest/graphgen", []string{"formats/session", "formats/store", "formats/internal/sqlitefile"}},
		{"formats/formatstest/idegen", []string{"formats/session", "formats/store", "formats/formatstest/graphgen"}},
		{"formats/formatstest/callgen", []string{"formats/internal/toolmap"}}, // names only
		{"formats/formatstest/streamgen", []string{"formats/session"}},
		{codecs, []string{"formats", "formats/store", "formats/loss", "formats/session", "formats/rule", "formats/internal/", "internal/rawjson",
			rooms, "internal/scratch"}},
		{rooms, []string{"formats", "formats/store", "formats/loss", "formats/session", "formats/rule", "formats/internal/", "internal/rawjson",
			rooms, "internal/fsx", "internal/process", "internal/scratch", "internal/udiff"}},
		{"schemas", nil},
		{"golden", nil},
		{"internal/rawjson", nil},
		{"internal/scratch", nil},
		{"internal/udiff", nil},
		{"internal/shell", nil},
		{"internal/process", nil},
		{"internal/toml", nil},
		{"internal/closest", nil},
		{"internal/fsevents", nil},
		{"internal/fileid", nil},
		{"internal/fsx", nil},
		{"convert/internal/leaks", nil},
		{"convert/internal/redact", []string{"convert/internal/leaks", "formats", "formats/session"}},
		{"convert/internal/workers", nil},
		{"convert/internal/notify", nil},
		{"convert/internal/mark", []string{"internal/fileid"}},
		{"convert/internal/worktree", []string{"internal/fsx"}},
		{"convert/internal/walk", []string{"convert/internal/stage", "formats", "internal/fsx"}},
		{"convert/internal/ignore", []string{"convert/internal/walk", "formats"}},
		{"convert/internal/sidecar", []string{"convert/internal/stage", "formats", "formats/store"}},
		{"convert/internal/stage", []string{"formats", "internal/fsx", "internal/scratch"}},
		{"convert/internal/undo", []string{"formats", "internal/fsx", "internal/scratch"}},
		{"convert/internal/filetx", []string{"convert/internal/stage", "convert/internal/undo", "formats", "internal/fsx"}},
		{"convert/internal/pipe", []string{"formats", "formats/loss", "formats/session", "internal/rawjson", "schemas"}},
		{"convert/internal/settings", []string{"internal/rawjson", "internal/toml"}},
		{"convert/sessions", []string{"convert/internal/", "formats", "formats/store", "formats/loss", "formats/session", "formats/rule",
			"internal/closest", "internal/scratch"}},
		{"convert/search", []string{"convert/sessions", "convert/internal/", "formats", "formats/store", "formats/loss", "formats/session"}},
		{"convert/diff", []string{"convert", "convert/sessions", "convert/internal/", "formats", "formats/store", "formats/loss",
			"formats/session", "internal/scratch", "internal/udiff"}},
		{"convert/mv", []string{"convert", "convert/sessions", "convert/internal/", "formats", "formats/session", "internal/fsx",
			"internal/scratch"}},
		{"convert/merge", []string{"convert", "convert/internal/", "formats", "formats/loss", "formats/store", "internal/fsx",
			"internal/scratch"}},
		{"convert/repo", []string{"convert/sessions", "convert/merge", "convert/internal/", "formats", "internal/fsx", "internal/scratch",
			"internal/shell"}},
		{"convert/check", []string{"convert", "convert/internal/", "formats", "formats/store", "formats/loss", "formats/rule",
			"internal/scratch", "schemas", "internal/shell"}},
		{"convert/repair", []string{"convert", "convert/check", "convert/internal/", "formats", "formats/rule", "formats/store", "internal/fsx",
			"internal/scratch"}},
		{"convert/doctor", []string{"convert/sessions", "convert/internal/", "formats", "formats/store", "formats/session", "formats/rule",
			"internal/scratch", "schemas"}},
		{"convert/watch", []string{"convert", "convert/sessions", "convert/internal/", "formats", "formats/session", "internal/fileid",
			"internal/fsevents"}},
		{"convert/backup", []string{"convert", "convert/sessions", "convert/internal/", "formats", "formats/clients", "formats/session",
			"internal/fileid", "internal/fsx", "internal/scratch", "internal/shell"}},
		{"convert", []string{"convert/sessions", "convert/internal/", "formats", "formats/rewrite", "formats/store", "formats/loss",
			"formats/session", "formats/rule", "internal/fsx", "internal/scratch", "internal/shell", "schemas"}},
		{"cmd/internal/demochat", nil},
		{"cmd/internal/screen", nil},
		{"cmd/internal/picker", []string{"cmd/internal/screen"}},
		{"cmd/internal/verdict", []string{"convert/check", "formats", "formats/rule", "formats/store", "schemas", "cmd/internal/screen",
			"internal/shell"}},
		{"cmd/internal/page/markup", []string{"cmd/internal/screen"}},
		{"cmd/internal/page/code", []string{"cmd/internal/page/markup"}},
		{"cmd/internal/page/markdown", []string{"cmd/internal/page/code", "cmd/internal/page/markup", "cmd/internal/screen"}},
		{"cmd/internal/page", []string{"cmd/internal/page/", "cmd/internal/prose", "cmd/internal/screen", "formats/session"}},
		{"cmd/internal/prose", []string{"formats/session", "cmd/internal/screen", "internal/udiff", "internal/shell"}},
		{"cmd/internal/console", []string{"cmd/internal/screen", "convert", "convert/sessions", "convert/watch", "convert/backup", "formats",
			"formats/loss", "formats/session", "internal/scratch"}},
		{"cmd/internal/clitest", []string{"cmd/internal/demochat", "cmd/internal/screen", "convert", "convert/backup", "convert/sessions", "convert/watch", "formats",
			"formats/loss", "formats/session", "formats/store", "golden", "internal/udiff"}}, // for tests
		{"cmd/internal/cli/gittest", nil}, // tests alone
		{"cmd/rehome", []string{"cmd/internal/cli"}},
		// A module of its own, which may link the network. Nothing above may import it.
		{"cmd/rehome-fleet/adapter", nil},
		{"cmd/rehome-fleet/internal/home", []string{"formats/loss"}},
		{"cmd/rehome-fleet/internal/home/hometest", append([]string{"testdata/"}, fleet...)}, // for tests
		{"cmd/rehome-fleet", fleet},
		{"cmd/rehome-fleet/", fleet},
		{"cmd/internal/cli", []string{"cmd/internal/", "convert", "convert/backup", "convert/check", "convert/diff", "convert/doctor",
			"convert/mv", "convert/repair", "convert/merge", "convert/repo", "convert/search", "convert/sessions", "convert/watch", "formats",
			"formats/store", "formats/loss", "formats/session", "formats/rule", "formats/all", "formats/clients", "internal/closest",
			"internal/fsx", "internal/scratch", "internal/shell", "internal/udiff", "schemas"}},
	}
}

type layer struct {
	pkg string
	may []string
}

// codecs stands for every package directly below formats that no other row
// names: a codec never imports another codec.
const codecs = "formats/<codec>"

// rooms stands for the inner packages of a codec. That only this one imports them
// is a rule of the language.
const rooms = "formats/<codec>/internal/"

// fleet is what the packages of rehome-fleet may import: what other modules may, and the
// command line.
var fleet = []string{"cmd/rehome-fleet/", "cmd/internal/", "convert", "convert/check", "convert/sessions", "formats", "formats/store",
	"formats/loss", "formats/session", "formats/rule", "formats/all", "internal/fsx", "internal/rawjson", "internal/scratch", "schemas"}

// doors says which packages may open a third-party module, in tests too.
func doors() map[string][]string {
	return map[string][]string{
		"charm.land/bubbletea":               {"cmd/internal/picker"},
		"github.com/BurntSushi/toml":         {"internal/toml"},
		"github.com/alecthomas/kong":         {"cmd/internal/cli"},
		"github.com/fsnotify/fsnotify":       {"internal/fsevents"},
		"github.com/go-json-experiment/json": {"internal/rawjson"},
		"github.com/jackc/pgx": {"cmd/rehome-fleet/internal/postgres", "cmd/rehome-fleet/internal/claude",
			"cmd/rehome-fleet/internal/catalog"},
		"github.com/klauspost/compress":         {"formats/internal/packed"},
		"github.com/minio/minio-go":             {"cmd/rehome-fleet/internal/bucket", "cmd/rehome-fleet/internal/claude"},
		"github.com/parquet-go/parquet-go":      {"cmd/rehome-fleet/internal/tables"},
		"github.com/redis/go-redis":             {"cmd/rehome-fleet/internal/redisdb", "cmd/rehome-fleet/internal/claude"},
		"github.com/santhosh-tekuri/jsonschema": {"schemas"},
		"github.com/yuin/goldmark":              {"cmd/internal/page/markdown"},
		"github.com/zeebo/xxh3":                 {"formats/internal/digest"},
		"google.golang.org/protobuf":            {"formats/internal/wire"},
		"modernc.org/sqlite":                    {"formats/internal/sqlitefile"},
		"modernc.org/libc":                      {"formats/internal/sqlitefile"}, // the driver's own C library
		"go.yaml.in/yaml":                       {"cmd/rehome-fleet/deploy"},     // in its tests
		"golang.org/x/term":                     {"cmd/internal/console"},
		"golang.org/x/sys": {"convert", "convert/internal/stage", "internal/fsx", "internal/scratch",
			"formats/internal/sqlitefile", "cmd/internal/cli", "cmd/rehome-fleet/internal/bucket", "cmd/rehome-fleet/internal/fleet",
			"testdata/interop", "testdata/kill"}, // system calls: rename without replacing; mapping files; a pseudo-terminal
	}
}

type pkg struct {
	ImportPath                         string
	Dir                                string
	Standard                           bool
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

// listed is what the Go tools say of a set of packages.
func listed(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Standard,GoFiles,Imports,TestImports,XTestImports"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// ours is every package of this module and of rehome-fleet, including those under testdata.
func ours(t *testing.T) []pkg {
	t.Helper()
	args := []string{"-tags", "services", "./...", "./cmd/rehome-fleet/..."}
	sources, err := filepath.Glob(filepath.Join("..", "..", "testdata", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources { // patterns pass testdata by
		args = append(args, "./testdata/"+filepath.Base(filepath.Dir(s)))
	}
	pkgs := listed(t, slices.Compact(args)...)
	if len(pkgs) < 10 {
		t.Fatalf("only %d packages found", len(pkgs))
	}
	return pkgs
}

func matches(pattern, name string) bool {
	if pattern == rooms {
		rest, ok := strings.CutPrefix(name, "formats/")
		codec, _, inner := strings.Cut(rest, "/internal/")
		return ok && inner && matches(codecs, "formats/"+codec)
	}
	if below, ok := strings.CutSuffix(pattern, "/"); ok {
		return strings.HasPrefix(name, below+"/")
	}
	if pattern == codecs {
		rest, ok := strings.CutPrefix(name, "formats/")
		return ok && !strings.Contains(rest, "/") && !slices.Contains([]string{"store", "loss", "session", "rule", "all", "formatstest",
			"internal"}, rest)
	}
	return pattern == name
}

// violation returns what is wrong with one import, or "".
func violation(from, to string) string {
	name := strings.TrimPrefix(from, module)
	if inner, ok := strings.CutPrefix(to, module); ok {
		for _, l := range layers() {
			if !matches(l.pkg, name) {
				continue
			}
			for _, may := range l.may {
				if matches(may, inner) {
					return ""
				}
			}
			return fmt.Sprintf("%s imports %s; it may import %q", name, inner, l.may)
		}
		if strings.HasPrefix(name, "testdata/") {
			return ""
		}
		return name + " stands in no layer: add it to the table"
	}
	return doorViolation(name, to)
}

// doorViolation looks at an import of something that is not ours.
func doorViolation(name, to string) string {
	if first, _, _ := strings.Cut(to, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	for module, open := range doors() {
		if to != module && !strings.HasPrefix(to, module+"/") {
			continue
		}
		if slices.Contains(open, name) {
			return ""
		}
		return fmt.Sprintf("%s imports %s, whose door is %s", name, to, strings.Join(open, ", "))
	}
	return fmt.Sprintf("%s imports %s, which has no door: add it to the table", name, to)
}

func TestImports(t *testing.T) {
	for _, p := range ours(t) {
		for _, to := range p.Imports {
			if b := violation(p.ImportPath, to); b != "" {
				t.Error(b)
			}
		}
		// Tests may look across layers, but libraries keep their one door.
		for _, to := range slices.Concat(p.TestImports, p.XTestImports) {
			if strings.HasPrefix(to, module) {
				continue
			}
			if b := doorViolation(strings.TrimPrefix(p.ImportPath, module), to); b != "" {
				t.Errorf("test: %s", b)
			}
		}
	}
}

// TestHiddenDependencies follows the imports of imports: what must stay out of
// a package must not come in by a side door either.
func TestHiddenDependencies(t *testing.T) {
	for name, never := range map[string][]string{
		"formats/store": {"rehome/formats/", "modernc.org/", "github.com/"},
		"formats/loss":  {"modernc.org/", "github.com/"},
		"formats":       {"modernc.org/", "github.com/"},
		"golden":        {"rehome/formats", "rehome/convert", "modernc.org/", "github.com/"},
		"schemas":       {"rehome/formats", "rehome/convert"},
		"convert":       {"modernc.org/", "github.com/alecthomas", "github.com/klauspost/compress"},
	} {
		for _, p := range listed(t, "-deps", "./"+name) {
			if p.Standard || p.ImportPath == module+name {
				continue
			}
			for _, n := range never {
				if strings.HasPrefix(p.ImportPath, n) {
					t.Errorf("%s depends on %s", name, p.ImportPath)
				}
			}
		}
	}
}

// TestViolations applies the rules to imports that they must reject.
func TestViolations(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"formats/cursorsdk", "rehome/formats/store", true},
		{"formats/cursorsdk", "rehome/formats/internal/sqlitefile", true},
		{"formats/cursorsdk", "rehome/formats/archive", false},
		{"formats/cursorsdk", "rehome/schemas", false},
		{"formats/cursorsdk", "rehome/formats/all", false},
		{"formats/store", "rehome/formats", false},
		{"formats/loss", "rehome/formats", false},
		{"formats", "rehome/formats/archive", false},
		{"internal/rawjson", "rehome/formats/archive", false},
		{"convert", "rehome/formats/all", false},
		{"convert", "rehome/formats/internal/sqlitefile", false},
		{"convert", "modernc.org/sqlite", false},
		{"cmd/internal/cli", "github.com/alecthomas/kong", true},
		{"cmd/internal/cli", "modernc.org/sqlite/lib", false},
		{"golden", "rehome/formats", false},
		{"schemas", "example.com/anything", false},
		{"somewhere/new", "rehome/formats", false},
		{"schemas", "encoding/json", true},
		{"cmd/internal/cli", "rehome/cmd/rehome-fleet/internal/postgres", false},
		{"cmd/internal/cli", "github.com/jackc/pgx/v5", false},
		{"cmd/rehome-fleet/internal/postgres", "github.com/jackc/pgx/v5/pgconn", true},
		{"cmd/rehome-fleet/internal/postgres", "rehome/convert/internal/stage", false},
	} {
		if b := violation(module+c.from, c.to); (b == "") != c.ok {
			t.Errorf("%s -> %s: %q", c.from, c.to, b)
		}
	}
}

// TestNames keeps out package names that say nothing.
func TestNames(t *testing.T) {
	for _, p := range ours(t) {
		for _, word := range []string{"util", "utils", "common", "helpers", "types", "misc"} {
			if slices.Contains(strings.Split(p.ImportPath, "/"), word) {
				t.Errorf("%s: a package is named after what it is about", p.ImportPath)
			}
		}
		for _, f := range p.GoFiles {
			b, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			for _, mark := range []string{"TO" + "DO", "FIX" + "ME"} {
				if strings.Contains(string(b), mark) {
					t.Errorf("%s/%s: finish it, or open an issue: %s", p.ImportPath, f, mark)
				}
			}
		}
	}
}
