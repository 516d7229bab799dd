package convert

import (
	"context"
	"iter"
	"strings"
	"testing"

	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
)

// TestMigrateEmpty: sessions in which nothing was said are skipped and counted,
// whether or not they have a place, with their subagents; one with a subagent
// that said something is not.
func TestMigrateEmpty(t *testing.T) {
	m := newMover(t, "session a\nsay one\nsession b Bob\nsession c\nsystem rules\nsession d\nsession d1\nsay two\nsession e\nsay three\nsession e1\nsession f\nsession f1\n")
	m.parents = map[string]string{"d1": "d", "e1": "e", "f1": "f"}
	rep := m.run(MigrateOptions{})
	m.status(rep, "a placed", "d placed", "e placed")
	if got := m.files(); rep.Empty != 5 || rep.Histories != 0 || len(got) != 5 || got["b.txt"]+got["c.txt"]+got["e/e1.txt"]+got["f.txt"] != "" || got["d/d1.txt"] == "" {
		t.Errorf("%d are empty: %q", rep.Empty, got)
	}
	m.dir += "-2"
	rep, err := Migrate(t.Context(), formats.NewRegistry(m.format(), client()), []MigrateSource{{Path: m.src}}, MigrateOptions{To: "client", Dir: m.dir})
	if err != nil {
		t.Fatal(err)
	}
	m.status(rep, "a failed", "d failed", "e failed") // no folder is known
	if rep.Empty != 5 || len(m.files()) != 0 {
		t.Errorf("%d are empty: %q", rep.Empty, m.files())
	}
	for _, one := range rep.Migrated {
		if one.Error == nil || !strings.Contains(one.Error.Hint, "--cwd") {
			t.Errorf("%s: %+v", one.ID, one.Error)
		}
	}
	m.say("session b\n")
	if rep := m.run(MigrateOptions{}, "b"); rep.Empty != 1 || len(rep.Migrated) != 0 || len(m.files()) != 0 {
		t.Errorf("%+v", rep)
	}
}

// TestMigrateHistory: a client's list of prompts is not migrated.
func TestMigrateHistory(t *testing.T) {
	m := newMover(t, "session a\nsay one\nsession list\nsay two\n")
	from := m.format()
	decode := from.Sessions.Decode
	from.Sessions.Decode = func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			for s, err := range decode(ctx, l, v, sel) {
				if s != nil && s.ID == "list" {
					s.Status = session.PromptHistory
				}
				if !yield(s, err) {
					return
				}
			}
		}
	}
	rep, err := Migrate(t.Context(), formats.NewRegistry(from, client()), []MigrateSource{{Path: m.src}}, MigrateOptions{To: "client", Dir: m.dir, Cwd: m.cwd})
	if err != nil {
		t.Fatal(err)
	}
	m.status(rep, "a placed")
	if rep.Empty != 0 || rep.Histories != 1 || len(m.files()) != 1 {
		t.Errorf("%d empty, %d histories, %q", rep.Empty, rep.Histories, m.files())
	}
}

// TestMigrateSameID: of two sessions with the same id, the second gets another one, with
// any number of workers.
func TestMigrateSameID(t *testing.T) {
	for _, jobs := range []int{1, 2, 8} {
		m := newMover(t, "session a\nsay one\nsession a\nsay two\nsession b\nsay three\n")
		rep := m.run(MigrateOptions{Jobs: jobs})
		m.status(rep, "a placed", "a placed", "b placed")
		if got := m.files(); len(got) != 3 || !strings.Contains(got["a.txt"], "one") || !strings.Contains(got["a#2.txt"], "two") {
			t.Errorf("%d workers: %q", jobs, got)
		}
	}
}

// TestMigrateAgainLinked: a copy keeps its subagents, also if the decoder takes the id
// of their parent from the session that it yielded, which has another by then.
func TestMigrateAgainLinked(t *testing.T) {
	m := newMover(t, "session a\nsay one\nsession k\nsay two\n")
	from := m.format()
	decode := from.Sessions.Decode
	from.Sessions.Decode = func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			var parent *session.Session
			for s, err := range decode(ctx, l, v, sel) {
				if parent != nil {
					s.Parent = &session.Link{Session: parent.ID}
				}
				if parent = s; !yield(s, err) {
					return
				}
			}
		}
	}
	rep, err := Migrate(t.Context(), formats.NewRegistry(from, client()), []MigrateSource{{Path: m.src}}, MigrateOptions{To: "client", Dir: m.dir, Cwd: m.cwd, Again: true})
	if err != nil {
		t.Fatal(err)
	}
	m.status(rep, "a placed")
	if rep.Migrated[0].Subagents != 1 || len(m.files()) != 3 {
		t.Errorf("%+v, %q", rep.Migrated[0], m.files())
	}
}

// TestMigrateListed: a store that is listed already is not listed again, and the subagents of
// the wanted session are known. It is read for its sessions, and to find their folder.
func TestMigrateListed(t *testing.T) {
	m := newMover(t, "session a\nsay one\nsession b\nsay two\nsession c\nsay three\n")
	m.parents = map[string]string{"b": "a"}
	from, reads := m.format(), 0
	decode := from.Sessions.Decode
	from.Sessions.Decode = func(ctx context.Context, l *formats.Location, v formats.View,
		sel session.Selection) iter.Seq2[*session.Session, error] {
		reads++
		return decode(ctx, l, v, sel)
	}
	reg := formats.NewRegistry(from, m.to)
	listing, err := sessions.List(t.Context(), reg, sessions.Options{Paths: []string{m.src}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		listing *sessions.Listing
		reads   int
	}{{nil, 3}, {listing, 2}} {
		reads = 0
		from := []MigrateSource{{Path: m.src, Sessions: []string{"a"}, Listing: test.listing}}
		rep, err := Migrate(t.Context(), reg, from, MigrateOptions{To: "client", Dir: m.dir, Cwd: m.cwd, DryRun: true})
		if err != nil || len(rep.Migrated) != 1 || rep.Migrated[0].Subagents != 1 || reads != test.reads {
			t.Errorf("%+v, %v after %d reads, want %d", rep.Migrated, err, reads, test.reads)
		}
	}
}
