package formatstest_test

import (
	"debug/elf"
	"debug/gosym"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What the command may weigh, and that it has no way to the network.

// maxPackages is how many packages of others the command may link, those of the
// standard library included. The driver's C library is one large package on Linux and many small ones on macOS.
func maxPackages() map[string]int {
	return map[string]int{
		"linux/amd64": 226, "linux/arm64": 226, // with a parser of TOML, crypto/hmac, for placeholders with a key, and a parser of Markdown
		"windows/amd64": 237, "windows/arm64": 237,
		"darwin/amd64": 250, "darwin/arm64": 250,
	}
}

const (
	maxBinary    = 29_000_000 // bytes, without symbols; 0.9 MB of it parse Markdown for pages, 0.3 MB read and write Pi and write Codex, 0.1 MB read TOML, 0.2 MB read and write OpenCode, 0.1 MB read Gemini CLI, 0.05 MB read what older clients wrote
	maxStart     = 2_300_000  // bytes that are allocated before main: 1 MB of it are schemas' schemas, 0.6 MB Markdown's tables
	maxStartOurs = 350_000
)

// allowedNet lists the packages that may import net: for a kind of UUID that
// nobody makes here, for the spelling of IP addresses, and for one conversion
// on Windows. TestLinked shows that none of it opens a socket.
var allowedNet = []string{"github.com/google/uuid", "github.com/santhosh-tekuri/jsonschema/v5", "golang.org/x/sys/windows"}

func TestNoNetworkPackages(t *testing.T) {
	for target, limit := range maxPackages() {
		t.Run(target, func(t *testing.T) {
			system, arch, _ := strings.Cut(target, "/")
			t.Setenv("GOOS", system)
			t.Setenv("GOARCH", arch)
			t.Setenv("CGO_ENABLED", "0")
			pkgs := listed(t, "-deps", "./cmd/rehome")
			foreign := slices.DeleteFunc(slices.Clone(pkgs), func(p pkg) bool { return strings.HasPrefix(p.ImportPath, module) })
			if len(foreign) > limit {
				t.Errorf("%d packages of others, the limit is %d", len(foreign), limit)
			}
			for _, p := range pkgs {
				for _, never := range []string{"net/http", "net/rpc", "net/smtp", "crypto/tls", "crypto/x509", "plugin", "log/syslog"} {
					if p.ImportPath == never || strings.HasPrefix(p.ImportPath, never+"/") {
						t.Errorf("%s is linked", p.ImportPath)
					}
				}
				if slices.Contains(p.Imports, "net") && !p.Standard && !slices.Contains(allowedNet, p.ImportPath) {
					t.Errorf("%s imports net", p.ImportPath)
				}
			}
		})
	}
}

// TestWorkspace: the module of rehome-fleet, which go.work adds, changes no version of what
// rehome links. So tests in the workspace test what a release builds without it.
func TestWorkspace(t *testing.T) {
	modules := func(env ...string) string {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/rehome")
		cmd.Dir = filepath.Join("..", "..")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.Sorted(strings.Lines(string(out)))
		return strings.Join(slices.Compact(lines), "")
	}
	work, err := filepath.Abs(filepath.Join("..", "..", "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	with, without := modules("GOWORK="+work), modules("GOWORK=off")
	if with != without || !strings.Contains(with, "modernc.org/sqlite ") {
		t.Errorf("with go.work:\n%s\nwithout:\n%s", with, without)
	}
}

// opensSockets matches the functions that every way to a socket goes through, in
// Go's packages and in the C library that SQLite is linked with.
var opensSockets = regexp.MustCompile(`(?i)^(net|syscall|golang\.org/x/sys/unix|modernc\.org/libc)\.(\([^)]*\)\.)?_*x?(sys)?(socket|socketpair|connect|bind|listen|dial)(ip|tcp|udp|unix|context|packet)?$`)

func TestOpensSockets(t *testing.T) {
	for _, f := range []any{net.Dial, net.Listen, net.ListenPacket, (*net.Dialer).DialContext, syscall.Socket, syscall.Connect, syscall.Bind} {
		if name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name(); !opensSockets.MatchString(name) {
			t.Errorf("%s is not known", name)
		}
	}
	for _, name := range []string{"net.(*sysDialer).dialTCP", "net.sysSocket", "syscall.socket", "golang.org/x/sys/unix.Socket", "modernc.org/libc.Xsocket", "modernc.org/libc.___connect"} {
		if !opensSockets.MatchString(name) {
			t.Errorf("%s is not known", name)
		}
	}
}

// built builds the command as a release does.
func built(t *testing.T, system, arch string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "rehome.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "./cmd/rehome")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// TestLinked looks into the binary for Linux: at its size, and at the functions
// that the linker kept.
func TestLinked(t *testing.T) {
	bin := built(t, "linux", "amd64")
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBinary {
		t.Errorf("%d bytes, the limit is %d", info.Size(), maxBinary)
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(lines, f.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, fn := range table.Funcs {
		seen = seen || fn.Name == "syscall.openat"
		if opensSockets.MatchString(fn.Name) {
			t.Errorf("%s is linked", fn.Name)
		}
	}
	if !seen {
		t.Errorf("syscall.openat is not among %d functions: the table was not read", len(table.Funcs))
	}
}

// initTrace matches a line of GODEBUG=inittrace=1.
var initTrace = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)

// TestStartsLight: what every command pays for is done before main. Its memory is counted, since
// time says more about the machine.
func TestStartsLight(t *testing.T) {
	cmd := exec.Command(built(t, runtime.GOOS, runtime.GOARCH), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum, ours := 0, 0
	for _, m := range initTrace.FindAllSubmatch(out, -1) {
		name := string(m[1])
		n, err := strconv.Atoi(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		sum += n
		if strings.HasPrefix(name, module) {
			ours += n
		}
		if name == module+"convert/internal/leaks" {
			t.Error("the rules for secrets are touched before anybody asks for them")
		}
	}
	if ours == 0 || ours > maxStartOurs || sum > maxStart {
		t.Errorf("%d bytes before main, the limit is %d; %d of them ours, the limit is %d:\n%s", sum, maxStart, ours, maxStartOurs, out)
	}
}
