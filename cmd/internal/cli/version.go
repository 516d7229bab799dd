package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"rehome/cmd/internal/console"
)

type versionCmd struct{}

func (versionCmd) Help() string {
	return `Examples:

    rehome version
    rehome version --json`
}

// release is the version of a released build, set by the linker, or "".
var release string

// versionResult identifies the build: schema version-result-1.
type versionResult struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (versionCmd) Run(a *console.App) error { return a.Out.Print(a.Ctx, newVersion(buildInfo())) }

// Version returns the version of this build.
func Version() string { return version() }

// version is Version.
func version() string { return newVersion(buildInfo()).Version }

func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// newVersion returns what is known about a build. A build of an untagged commit gets
// the version that the Go tools give to such a commit.
func newVersion(info *debug.BuildInfo) *versionResult {
	res := &versionResult{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	at := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			res.Revision = s.Value
		case "vcs.modified":
			res.Modified = s.Value == "true"
		case "vcs.time":
			at = s.Value
		}
	}
	commit := ""
	if t, err := time.Parse(time.RFC3339, at); err == nil && len(res.Revision) >= 12 {
		commit = "v0.0.0-" + t.UTC().Format("20060102150405") + "-" + res.Revision[:12]
		if res.Modified {
			commit += "+dirty"
		}
	}
	res.Version = cmp.Or(release, strings.TrimPrefix(info.Main.Version, "(devel)"), commit, "(devel)")
	return res
}
