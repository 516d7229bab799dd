package main

import (
	"cmp"
	"runtime"
	"runtime/debug"
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

func (versionCmd) Run(a *app) error {
	res := &versionResult{Version: version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return a.out.printResult(res)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			res.Revision = s.Value
		case "vcs.modified":
			res.Modified = s.Value == "true"
		}
	}
	return a.out.printResult(res)
}

// version returns the version of this build.
func version() string {
	main := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		main = info.Main.Version
	}
	return cmp.Or(release, main, "(devel)")
}
