package cursorchat

import (
	"path/filepath"
	"slices"

	"rehome/formats"
)

// mcpFiles returns the files that all of Cursor's clients read.
func mcpFiles(m formats.Machine, cwd string) []string {
	return []string{filepath.Join(cwd, ".cursor", "mcp.json"), filepath.Join(m.Home, ".cursor", "mcp.json")}
}

// ruleFiles returns the settings of a project, and those of the client.
func ruleFiles(m formats.Machine, cwd string) []string {
	return []string{filepath.Join(cwd, ".cursor", "cli.json"), filepath.Join(config(m), "cli-config.json")}
}

// configVariable names the folder in which the CLI keeps everything.
const configVariable = "CURSOR_CONFIG_DIR"

// config returns the folder in which the CLI looks for its chats.
func config(m formats.Machine) string {
	dir, desktop := m.Env(configVariable), m.Env("XDG_CONFIG_HOME")
	switch {
	case dir != "":
		return dir
	case desktop != "" && m.OS != "windows" && m.OS != "darwin":
		return filepath.Join(desktop, "cursor")
	}
	return filepath.Join(m.Home, ".cursor")
}

// home returns the folders in which the CLI and editors that run it keep chats: below
// the folder that a variable names, the desktop's folder of settings if there is one,
// and the user's home folder. If the variable was not always set, several have chats.
func home(m formats.Machine) []string {
	var bases []string
	add := func(base string, below ...string) {
		if base == "" {
			return
		}
		if dir := filepath.Join(append([]string{base}, below...)...); !slices.Contains(bases, dir) {
			bases = append(bases, dir)
		}
	}
	add(m.Env(configVariable))
	add(m.Env("CURSOR_DATA_DIR"))
	if m.OS != "windows" && m.OS != "darwin" {
		add(m.Env("XDG_CONFIG_HOME"), "cursor")
		add(m.Home, ".config", "cursor")
	}
	add(m.Home, ".cursor")
	var out []string
	for _, b := range bases {
		out = append(out, filepath.Join(b, folder), filepath.Join(b, acpName))
	}
	return out
}
