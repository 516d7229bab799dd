package formats

import "path/filepath"

// Machine is what determines where clients keep their stores: the operating
// system, the user's home folder and the environment.
type Machine struct {
	OS     string // a value of runtime.GOOS
	Home   string // the user's home folder
	Getenv func(name string) string
}

// Env returns an environment variable, "" if Getenv is nil.
func (m Machine) Env(name string) string {
	if m.Getenv == nil {
		return ""
	}
	return m.Getenv(name)
}

// State returns the folder in which rehome keeps what it has to remember, "" if there is none.
func (m Machine) State() string {
	dir := ""
	switch m.OS {
	case "windows":
		dir = m.Env("LOCALAPPDATA")
	case "darwin":
		if m.Home != "" {
			dir = filepath.Join(m.Home, "Library", "Application Support")
		}
	default:
		if dir = m.Env("XDG_STATE_HOME"); !filepath.IsAbs(dir) {
			dir = ""
		}
		if dir == "" && m.Home != "" {
			dir = filepath.Join(m.Home, ".local", "state")
		}
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "rehome")
}
