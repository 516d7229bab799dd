package cli

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"strings"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/internal/shell"
)

// scheduleResult is how to run a backup regularly: schema schedule-result-1.
type scheduleResult struct {
	For     string `json:"schedule"`
	Content string `json:"text"`
}

func (r *scheduleResult) Text(p *screen.Page) {
	for line := range strings.Lines(r.Content) {
		p.Line(screen.Visible(strings.TrimSuffix(line, "\n")))
	}
}

// printSchedule prints how to run this backup regularly on this machine. It installs
// nothing.
func (c *backupCmd) printSchedule(a *console.App, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if dir, err = absFolder(dir); err != nil {
		return err
	}
	args := []string{program, "backup", dir, "--quiet"}
	if c.Keep > 0 {
		args = append(args, fmt.Sprintf("--keep=%d", c.Keep))
	}
	if c.WithoutSecrets {
		args = append(args, "--without-secrets")
	}
	if c.Delete {
		args = append(args, "--delete")
	}
	text, err := schedules()[c.Schedule](args)
	if err != nil {
		return err
	}
	return a.Out.Print(a.Ctx, &scheduleResult{c.Schedule, text})
}

// schedules returns what to print for each scheduler.
func schedules() map[string]func(args []string) (string, error) {
	return map[string]func([]string) (string, error){
		"cron":    func(args []string) (string, error) { return cronLine(shell.Join(shell.POSIX, args)), nil },
		"launchd": func(args []string) (string, error) { return launchdPlist(args), nil },
		"windows": func(args []string) (string, error) { return schtasksCommand(args), nil },
		"claude":  func(args []string) (string, error) { return claudeHook(shell.Join(shell.POSIX, args)) },
	}
}

// cronLine runs a command every hour. cron turns a bare % into a line end.
func cronLine(command string) string {
	return "# add this line with: crontab -e\n17 * * * * " + strings.ReplaceAll(command, "%", `\%`) + "\n"
}

func launchdPlist(args []string) string {
	var words strings.Builder
	for _, arg := range args {
		words.WriteString("    <string>" + html.EscapeString(arg) + "</string>\n")
	}
	return `<!-- save as ~/Library/LaunchAgents/rehome.backup.plist, then: launchctl load ~/Library/LaunchAgents/rehome.backup.plist -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>rehome.backup</string>
  <key>ProgramArguments</key>
  <array>
` + words.String() + `  </array>
  <key>StartInterval</key>
  <integer>3600</integer>
</dict>
</plist>
`
}

// schtasksCommand creates a task. Its command is one argument, in which the program's
// own arguments are quoted once more.
func schtasksCommand(args []string) string {
	var out []string
	for _, arg := range args {
		if strings.ContainsAny(arg, " \t") {
			arg = `\"` + arg + `\"`
		}
		out = append(out, arg)
	}
	return `schtasks /Create /SC HOURLY /TN "rehome backup" /TR "` + strings.Join(out, " ") + `"` + "\n"
}

// claudeHook is the part of ~/.claude/settings.json that backs up when a session of
// Claude Code ends.
func claudeHook(command string) (string, error) {
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}
	type matcher struct {
		Hooks []hook `json:"hooks"`
	}
	doc := map[string]map[string][]matcher{"hooks": {"SessionEnd": {{[]hook{{"command", command}}}}}}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(doc)
	return text.String(), err
}
