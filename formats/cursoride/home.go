package cursoride

import (
	"os"
	"path/filepath"

	"rehome/formats"
)

// home lists the IDE's user dirs. Of a Linux inside Windows they are the ones
// of the people of that Windows: the IDE's window is there, and its stores are.
func home(m formats.Machine) []string {
	if m.Home == "" {
		return nil
	}
	user := func(parts ...string) string { return filepath.Join(append(parts, "Cursor", "User")...) }
	switch m.OS {
	case "darwin":
		return []string{user(m.Home, "Library", "Application Support")}
	case "windows":
		if dir := m.Env("APPDATA"); dir != "" {
			return []string{user(dir)}
		}
		return []string{user(m.Home, "AppData", "Roaming")}
	}
	out := []string{user(m.Home, ".config")}
	if dir := m.Env("XDG_CONFIG_HOME"); dir != "" && filepath.Clean(dir) != filepath.Join(m.Home, ".config") {
		out = append(out, user(dir))
	}
	if m.Env("WSL_DISTRO_NAME") == "" {
		return out
	}
	const people = "/mnt/c/Users"
	list, _ := os.ReadDir(people)
	for _, e := range list {
		dir := user(people, e.Name(), "AppData", "Roaming")
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			out = append(out, dir)
		}
	}
	return out
}
