package cli

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/convert/mv"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
	"rehome/golden"
)

const movedChat = "5d0b2b7e-1111-4000-8000-000000000000"

// movedHome is a home folder with a chat of a project, which was migrated to Claude Code
// before its folder was moved.
type movedHome struct {
	t              *testing.T
	home, old, now string
	env            map[string]string
}

// chat writes a database as the chat of a folder.
func (h *movedHome) chat(folder, from string) {
	h.t.Helper()
	sum := md5.Sum([]byte(folder))
	at := filepath.Join(h.home, ".cursor", "chats", hex.EncodeToString(sum[:]), movedChat, "store.db")
	data, err := os.ReadFile(filepath.Join("../../../testdata/chat", from))
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, data, 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *movedHome) run(args ...string) string {
	h.t.Helper()
	stdout, stderr, code := callWith(h.t, h.t.Context(), h.env, args...)
	if code != 0 {
		h.t.Errorf("rehome %q: exit %d, %s", args, code, stderr)
	}
	return stdout + stderr
}

// migrated returns how many turns the session of Claude Code has in which the chat continues.
func (h *movedHome) migrated() (session, folder string, turns int) {
	h.t.Helper()
	var list struct{ Sessions []lsSession }
	stdout, _, _ := callWith(h.t, h.t.Context(), h.env, "ls", "--json", "--long")
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		h.t.Fatal(err)
	}
	for _, s := range list.Sessions {
		if s.Origin == movedChat {
			return s.ID, s.Project, int(*s.Turns)
		}
	}
	return "", "", 0
}

// TestMovedMeansMoved: after `rehome mv`, whatever the folders are called and wherever one
// stands, there is one chat, in the new folder, and its next turn reaches the session of
// Claude Code that it was migrated to.
func TestMovedMeansMoved(t *testing.T) {
	was, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		t.Chdir(was)
		h := newMovedHome(t, "a", "b "+strconv.Itoa(n))
		for i := 0; h.hashesRise() != (n < 2); i++ { // both orders
			h.now = filepath.Join(h.home, "b "+strconv.Itoa(i))
		}
		h.run("migrate", movedChat)
		_, _, before := h.migrated()
		if err := os.Rename(h.old, h.now); err != nil {
			t.Fatal(err)
		}
		h.run("mv", h.old, h.now)
		if n%2 == 0 {
			h.run("mv", h.old, h.now, "--remove-old")
		}
		h.chat(h.now, "after.db")
		if n%3 == 0 {
			t.Chdir(h.home)
		} else if n%3 == 1 {
			t.Chdir(h.now)
		}
		if out := "\n" + h.run("ls", "--project", h.now); strings.Count(out, "\n"+movedChat+"\t") != 1 {
			t.Errorf("ls: the chat is not in its new folder once:\n%s", out)
		}
		if out, _, _ := callWith(t, t.Context(), h.env, "ls", "--project", h.old); strings.Contains(out, movedChat[:8]) {
			t.Errorf("ls: the chat is in its old folder:\n%s", out)
		}
		if out := h.run("show", movedChat[:8]); !strings.Contains(out, "folder   "+h.now+"\n") &&
			!strings.Contains(out, "folder   ~/"+filepath.Base(h.now)+"\n") {
			t.Errorf("show: not in %s: %.300s", h.now, out)
		}
		h.run("migrate", movedChat[:8], "--update")
		copied, folder, after := h.migrated()
		if after <= before || folder != h.now {
			t.Errorf("%s to %s: the session of Claude Code has %d turns in %s, and had %d", h.old, h.now, after, folder, before)
		}
		if out := h.run("migrate", copied, "--back"); !strings.Contains(out, "No new turns") || strings.Contains(out, "cd ") &&
			!strings.Contains(out, "cd '"+h.now+"'") {
			t.Errorf("--back: %s", out)
		}
	}
}

// hashesRise reports whether the hash of the old folder is less than that of the new one.
func (h *movedHome) hashesRise() bool {
	x, y := md5.Sum([]byte(h.old)), md5.Sum([]byte(h.now))
	return string(x[:]) < string(y[:])
}

// TestMovedLaw is TestMovedMeansMoved for many paths, in one process: every way to a session
// takes it to be in the folder where the project is now, and a turn that was added there in
// Cursor arrives where the session continues.
func TestMovedLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	less := map[bool]int{}
	var cases []movedCase
	paths := 200
	if golden.Race { // what runs beside it is the same for each path
		paths = 24
	}
	for range paths {
		old, now := randomFolders(random)
		c := movedCase{movedHome: newMovedHome(t, old, now), way: random.IntN(8), migrated: random.IntN(4) > 0, remove: random.IntN(2) == 0,
			stated: random.IntN(2) == 0}
		less[c.hashesRise()]++
		cases = append(cases, c)
	}
	if least := paths * 3 / 10; less[true] < least || less[false] < least {
		t.Errorf("orders of the hashes: %v", less)
	}
	for n, c := range cases {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel() // most of the time goes into syncing
			c.t = t
			c.moves(n%8 == 0)
		})
	}
}

// movedCase is how a project is moved.
type movedCase struct {
	*movedHome
	way      int  // 0: by way of a third folder; 1: and on to where it was; 2: without rehome mv
	migrated bool // before
	remove   bool // with --remove-old
	stated   bool // the chat states its folder
}

// folders returns where the project is, one after the other.
func (c *movedCase) folders() []string {
	switch third := filepath.Join(c.home, "third"); c.way {
	case 0:
		return []string{c.old, third, c.now}
	case 1:
		return []string{c.now, third, c.old, c.now}
	}
	return []string{c.old, c.now}
}

// moves moves the project. Then its next turn has to arrive, and every way must lead to the
// same folder.
func (c *movedCase) moves(everyWay bool) {
	const added = "a.txt says goodbye now."
	t, h, folders := c.t, c.movedHome, c.folders()
	if folders[0] == h.now {
		if err := errors.Join(os.RemoveAll(filepath.Join(h.home, ".cursor")), os.MkdirAll(filepath.Dir(h.now), 0o755),
			os.Rename(h.old, h.now)); err != nil {
			t.Fatal(err)
		}
		h.chat(h.now, "before.db")
	}
	if c.stated {
		h.state(folders[0])
	}
	a := &console.App{Ctx: t.Context(), Reg: all.Registry(), Out: console.NewOutput(io.Discard, io.Discard,
		func(name string) string { return h.env[name] },
		console.OutputFlags{}), Now: time.Now}
	into := func() launch {
		src, err := resolve(a, movedChat, false)
		if err != nil {
			t.Fatal(err)
		}
		l, err := prepareContinue(a, src, continueOptions{In: session.ClaudeCode})
		if err != nil {
			t.Fatalf("%+v, %q: %v", c, folders, err)
		}
		return l
	}
	if c.migrated {
		if l := into(); l.Dir != folders[0] {
			t.Errorf("%q: migrated to %q", folders, l.Dir)
		}
	}
	for i, to := range folders[1:] {
		if c.way == 2 {
			h.moveByHand(folders[i], to)
		} else {
			h.move(a, folders[i], to, c.remove)
		}
	}
	h.chat(h.now, "after.db")
	l := into()
	file, err := os.ReadFile(l.Migrated.File)
	if err != nil || l.Note != "" || l.Dir != h.now || !strings.Contains(string(file), added) {
		t.Errorf("%+v, %q: the turn did not arrive: %v, %q, %s in %q", c, folders, err, l.Note, l.Migrated.File, l.Dir)
	}
	if !everyWay {
		return
	}
	for way, dir := range h.ways(a, l) {
		if dir != h.now {
			t.Errorf("%q to %q: %s: the folder is %q", h.old, h.now, way, dir)
		}
	}
}

// randomFolders returns where a project was and is, in a home folder. Different folders
// often have one name in Claude Code.
func randomFolders(random *rand.Rand) (old, now string) {
	element := func() string {
		out := "p"
		for range 1 + random.IntN(3) {
			out += string([]rune("ab -._é'")[random.IntN(8)])
		}
		return out + "q"
	}
	for old == now || strings.HasPrefix(now, old+"/") || strings.HasPrefix(old, now+"/") {
		old, now = element(), element()
		if random.IntN(2) == 0 {
			old = element() + "/" + old
		}
		if random.IntN(2) == 0 {
			now = filepath.Join(filepath.Dir(old), now) + "/" + element()
		}
	}
	return old, now
}

// state writes the file in which newer versions of Cursor state the folder of a chat.
func (h *movedHome) state(folder string) {
	h.t.Helper()
	stores, err := filepath.Glob(filepath.Join(h.home, ".cursor", "chats", "*", movedChat))
	if err != nil || len(stores) != 1 {
		h.t.Fatal(stores, err)
	}
	meta := fmt.Sprintf(`{"schemaVersion":1,"createdAtMs":1791792000000,"updatedAtMs":1791792030000,"hasConversation":true,"title":"Golden demo","cwd":%q,"isSubagent":false}`, folder)
	if err := os.WriteFile(filepath.Join(stores[0], "meta.json"), []byte(meta), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// move moves the project, and its sessions after it.
func (h *movedHome) move(a *console.App, old, now string, remove bool) {
	h.t.Helper()
	m := console.Machine(a.Out.Getenv)
	o := mv.Options{Old: old, New: now, Machine: m, UndoDir: convert.UndoDir(m)}
	if err := errors.Join(os.MkdirAll(filepath.Dir(now), 0o755), os.Rename(old, now)); err != nil {
		h.t.Fatal(err)
	}
	done, err := mv.Move(h.t.Context(), a.Reg, o)
	if err == nil && remove {
		done, err = mv.Remove(h.t.Context(), a.Reg, o)
	}
	if err != nil || done.Count(mv.Failed) > 0 || len(done.Sessions) == 0 {
		h.t.Fatalf("%q to %q: %v, %+v", old, now, err, done)
	}
}

// moveByHand moves the project, and gives its chats the name that Cursor looks for.
func (h *movedHome) moveByHand(old, now string) {
	h.t.Helper()
	name := func(folder string) string {
		sum := md5.Sum([]byte(folder))
		return filepath.Join(h.home, ".cursor", "chats", hex.EncodeToString(sum[:]))
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(now), 0o755), os.Rename(old, now), os.Rename(name(old), name(now))); err != nil {
		h.t.Fatal(err)
	}
}

// ways returns the folder of the chat as each command finds it. l is how it continues.
func (h *movedHome) ways(a *console.App, l launch) map[string]string {
	h.t.Helper()
	listing, err := listAll(a, false)
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]string{"continue": l.Dir}
	for _, s := range listing.All() {
		way := "ls: " + s.ID
		if out[way] != "" {
			h.t.Errorf("%q to %q: %s is listed twice", h.old, h.now, s.ID)
		}
		out[way] = s.Workspace
	}
	if len(out) != 3 {
		h.t.Errorf("%q to %q: %v is listed, want the chat and one session of Claude Code", h.old, h.now, out)
	}
	src, err := resolve(a, movedChat, false)
	if err != nil {
		h.t.Fatal(err)
	}
	v := &viewer{App: a, cmd: &showCmd{}}
	for s, err := range v.plainDecoder(src)(h.t.Context(), formats.FullView(1)) {
		if err != nil {
			h.t.Fatal(err)
		}
		out["show"] = s.Workspace
	}
	done, err := convert.Migrate(h.t.Context(), a.Reg, []convert.MigrateSource{src.toMigrate()},
		convert.MigrateOptions{To: "cursor-sdk", Dir: filepath.Join(h.home, ".cursor"), Folders: candidates(a, src.folder), DryRun: true})
	if err != nil || len(done.Migrated) != 1 {
		h.t.Fatal(err)
	}
	out["migrate"] = done.Migrated[0].Cwd
	back, err := (&migrateCmd{Src: l.session}).bringBack(a, convert.MigrateOptions{Folders: candidates(a), DryRun: true,
		UndoDir: convert.UndoDir(console.Machine(a.Out.Getenv))})
	if err != nil || len(back.Migrated) != 1 || back.Migrated[0].Status != convert.Same {
		h.t.Fatalf("--back: %v, %+v", err, back)
	}
	out["--back"] = back.Migrated[0].Cwd
	further, err := mv.Move(h.t.Context(), a.Reg, mv.Options{Old: h.now, New: h.now + "2", Machine: console.Machine(a.Out.Getenv),
		UndoDir: convert.UndoDir(console.Machine(a.Out.Getenv)), DryRun: true})
	if err != nil || further.Count(mv.Planned) != 2 {
		h.t.Errorf("%q to %q: mv would not find both sessions: %v, %+v", h.old, h.now, err, further)
	}
	return out
}

// newMovedHome returns a home with a chat in a folder, to be called something else.
func newMovedHome(t *testing.T, old, now string) *movedHome {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &movedHome{t, home, filepath.Join(home, old), filepath.Join(home, now), map[string]string{
		console.HomeVariable(): home, "PATH": clientsIn(t, home), "LOCALAPPDATA": filepath.Join(home, "AppData", "Local"),
	}}
	if err := os.MkdirAll(h.old, 0o755); err != nil {
		t.Fatal(err)
	}
	h.chat(h.old, "before.db")
	return h
}

// TestBackOfNewCopy: a copy that nobody continued has no new turns, whatever its original
// has: summaries and commands, too.
func TestBackOfNewCopy(t *testing.T) {
	for _, from := range []string{"before.db", "after.db"} {
		h := newMovedHome(t, "app", "app2")
		h.chat(h.old, from)
		h.run("migrate", movedChat)
		copied, _, _ := h.migrated()
		for _, of := range []string{copied, movedChat} { // the only copy is meant
			if out := h.run("migrate", of, "--back"); !strings.Contains(out, "No new turns") {
				t.Errorf("%s: %s", from, out)
			}
		}
	}
}
