package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
)

// TestBashCompletes asks bash itself, on a machine that has sessions.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	script, _, _ := call(t, "completion", "bash")
	dir, bin, home := t.TempDir(), t.TempDir(), t.TempDir()
	furnishAnn(t, home)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "rehome")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a file", "store.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"show --tools = f": "full",
		"show --format=":   "text markdown html json",
		"--color a":        "auto always",
		"show 5d":          "5d0b2b7e",
		"show st":          "store.db",
		"show a":           "a file",
		"co":               "continue convert completion",
	} {
		words := append([]string{"rehome"}, strings.Split(strings.ReplaceAll(line, "=", " = "), " ")...)
		if strings.HasSuffix(line, "=") {
			words = words[:len(words)-1]
		}
		var quoted []string
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		for _, w := range words {
			if w != "" || len(quoted) == len(words)-1 {
				quoted = append(quoted, quote(w))
			}
		}
		test := script + "COMP_WORDS=(" + strings.Join(quoted, " ") +
			"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rehome; echo \"${COMPREPLY[*]}\"\n"
		cmd := exec.Command(bash, "--norc", "-c", test)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), clitest.AsProgram+"=1", "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("rehome %s: %q, want %q (%v)", line, got, want, err)
		}
	}
}

// TestShellsComplete types into the real zsh and fish, where they are installed: a word
// that has one completion, values without descriptions, sessions newest first, and files.
func TestShellsComplete(t *testing.T) {
	for _, name := range []string{"zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			shell, err := exec.LookPath(name)
			if err != nil {
				t.Logf("not run: %s is not installed", name)
				return
			}
			home := shellHome(t)
			env := []string{clitest.AsProgram + "=1", "TERM=xterm", "LANG=C.UTF-8", "HOME=" + home, "ZDOTDIR=" + home,
				"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
			p := inFrontOfProgram(t, 120, 40, home, env, nil, shell, "-i")
			p.sees("ready>")
			for _, c := range [][2]string{ // what is typed, and what is on the screen then
				{"rehome sh\t", "rehome show"}, {"rehome show --tools=f\t", "--tools=full"},
				{"rehome completion pow\t", "rehome completion powershell"},
				{"rehome show note\t", "rehome show notes.txt"}, {"rehome convert --cwd fol\t", "--cwd folder/"},
				{"rehome con\t", "Convert session stores between formats"}, {"rehome show 2000\t\t", "An old one"}, {"rehome show --tools \t", "none"},
			} {
				p.types(c[0])
				p.sees(c[1])
				if strings.Contains(p.text(), "none  -- none") {
					t.Errorf("a value is its own description:\n%s", p.text())
				}
				p.types("\x15") // clears the line
			}
			p.cmd.Process.Kill()
			p.cmd.Wait()
		})
	}
}

// shellHome returns a home folder with sessions, the completion scripts and a prompt.
func shellHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	furnishAnn(t, home)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	zsh, _, _ := call(t, "completion", "zsh")
	fish, _, _ := call(t, "completion", "fish")
	for name, text := range map[string]string{
		"zfunc/_rehome":                        zsh,
		".zshrc":                               "fpath=($HOME/zfunc $fpath)\nautoload -Uz compinit; compinit -u -D\nPROMPT='ready> '\n",
		".config/fish/completions/rehome.fish": fish,
		".config/fish/config.fish":             "function fish_prompt; echo -n 'ready> '; end\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n",
		"notes.txt":                            "",
		"folder/x.txt":                         "",
	} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(home, "bin"), 0o755), os.Symlink(self, filepath.Join(home, "bin", "rehome"))); err != nil {
		t.Fatal(err)
	}
	return home
}
