//go:build services

package deploy

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/internal/fsx"
	"rehome/testdata/sdk"
)

// TestPages runs the first lines of each page as a user does, in a home folder with stores.
func TestPages(t *testing.T) {
	bin := install(t)
	for _, page := range []string{"fleet.md", "postgres.md"} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../../docs", page))
			if err != nil {
				t.Fatal(err)
			}
			block := regexp.MustCompile("^# .*\n\n```sh\n((?:.+\n){5})```\n").FindSubmatch(text)
			if block == nil {
				t.Fatal("the page does not begin with five lines")
			}
			home, dir := t.TempDir(), t.TempDir()
			for from, to := range map[string]string{"claude/config/projects": ".claude/projects", "sdk/" + sdk.Project: ".cursor/projects/home-ann-app", "chat/before.db": ".cursor/chats/5734498605caec2da8801a5b40f5caa8/5d0b2b7e-1111-4000-8000-000000000000/store.db"} {
				to = filepath.Join(home, to)
				if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := fsx.CopyTree(filepath.Join("../../../testdata", from), to, false); err != nil {
					t.Fatal(err)
				}
			}
			server, err := url.Parse(need(t, "REHOME_TEST_POSTGRES"))
			if err != nil {
				t.Fatal(err)
			}
			password, _ := server.User.Password()
			cmd := exec.Command("bash", "-eux", "-c", string(block[1]))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+bin+":"+need(t, "REHOME_TEST_PGBIN")+":"+os.Getenv("PATH"),
				"PGHOST="+server.Hostname(), "PGPORT="+server.Port(), "PGUSER="+server.User.Username(), "PGPASSWORD="+password)
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "refused") || strings.Contains(string(out), "poison") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
