package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"rehome/testdata/homes"
)

// listed is how many sessions the home folder has that is listed.
const listed = 10_000

// lsJobs list every session of a home folder. Looking up the time of every file
// below it is what cannot be avoided by much; chats older than the file beside
// the database have to be opened, too.
func (b *bench) lsJobs(ctx context.Context) ([]job, error) {
	home := b.made("home")
	if err := os.Mkdir(home, 0o755); err != nil {
		return nil, err
	}
	if err := homes.Make(home, homes.Of(listed)); err != nil {
		return nil, err
	}
	ls := func(more ...string) func(string) []string {
		return func(string) []string { return append([]string{"env", "HOME=" + home, b.rehome, "ls"}, more...) }
	}
	find := contender{name: "find and stat", wanted: 0.2, stdout: true, args: func(string) []string {
		return []string{"find", home, "-type", "f", "-exec", "stat", "{}", "+"}
	}}
	if _, err := exec.LookPath("find"); err != nil {
		find.absent = err
	}
	return []job{
		{name: fmt.Sprintf("ls of %d sessions in %s", listed, megabytes(home)), contenders: []contender{
			{name: "rehome", stdout: true, args: ls()}, find,
		}},
		{name: "the same, --json", contenders: []contender{{name: "rehome", stdout: true, args: ls("--json")}}},
	}, ctx.Err()
}
