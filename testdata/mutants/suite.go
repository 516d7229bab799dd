package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rehome/formats/all"
)

// law is one of the tests that are the conformance suite of a codec, with %s for its name, and
// for that of a fixture.
type law struct{ pkg, tests string }

// quick are the laws in the order of their time, but those that are tried on one fixture alone.
var quick = []law{
	{"rehome/formats/all", "^TestOrder(Others)?$/^%s$"},
	{"rehome/formats/all", "^TestRandomSessions$/./^%s$"},
	{conformance, "^TestCodecs$/^%s$/./^(leaves|sessions|heads)$"},
	{conformance, "^TestWriters$/^%s$"},
}

const (
	conformance = "rehome/formats/formatstest"
	each        = "^TestCodecs$/^%s$/^%s$"      // everything for one fixture
	probes      = "^TestCodecs$/^%s$/./^probe$" // a test of each fixture, which lists them
)

// suite is the conformance suite of all codecs, compiled once for all changes.
type suite struct {
	dir      string
	packages map[string]*pkg
	binaries map[string]string   // by package
	plain    sync.Map            // plainRun by trial
	codecs   map[string]string   // by package
	fixtures map[string][]string // by codec
}

// trial is a law for a codec, and for a fixture if the law is tried on one alone.
type trial struct {
	law
	codec, fixture string
}

func (t trial) String() string {
	if t.fixture != "" {
		return fmt.Sprintf(t.tests, t.codec, regexp.QuoteMeta(t.fixture))
	}
	return fmt.Sprintf(t.tests, t.codec)
}

// plainRun is a trial of the code as it is.
type plainRun struct {
	once    sync.Once
	err     error
	took    time.Duration
	reached map[int]bool
}

// newSuite compiles the suite with all changes, by their numbers.
func newSuite(ctx context.Context, dir string, packages map[string]*pkg, changes map[int]mutant) (*suite, error) {
	s := &suite{dir: dir, packages: packages, binaries: map[string]string{}}
	files := map[string]map[int]mutant{}
	for n, m := range changes {
		if files[m.file] == nil {
			files[m.file] = map[int]mutant{}
		}
		files[m.file][n] = m
	}
	replace := map[string]string{}
	for i, file := range slices.Sorted(maps.Keys(files)) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if text, err = instrument(file, text, files[file]); err != nil {
			return nil, err
		}
		replace[file] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[file], text, 0o666); err != nil {
			return nil, err
		}
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err := errors.Join(err, os.WriteFile(overlay, text, 0o666)); err != nil {
		return nil, err
	}
	for _, law := range quick {
		if s.binaries[law.pkg] != "" {
			continue
		}
		s.binaries[law.pkg] = filepath.Join(dir, filepath.Base(law.pkg)+".test")
		args := []string{"test", "-c", "-overlay", overlay, "-vet=off", "-ldflags=-s -w", "-o", s.binaries[law.pkg], law.pkg}
		build := exec.CommandContext(ctx, "go", args...)
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	return s, s.list(ctx)
}

// judge tries a change until a trial fails.
func (s *suite) judge(ctx context.Context, n int, m mutant) (v verdict, err error) {
	for _, law := range quick {
		for _, codec := range s.users(m.pkg) {
			if err := s.try(ctx, trial{law, codec, ""}, n, m, &v); err != nil || v.by != "" {
				return v, err
			}
		}
	}
	for _, codec := range s.users(m.pkg) {
		for _, fixture := range s.fixtures[codec] {
			if err := s.try(ctx, trial{law{conformance, each}, codec, fixture}, n, m, &v); err != nil || v.by != "" {
				return v, err
			}
		}
	}
	return v, nil
}

// try runs a trial if it meets a change.
func (s *suite) try(ctx context.Context, t trial, n int, m mutant, v *verdict) error {
	plain, err := s.asItIs(ctx, t)
	if err != nil {
		return err
	}
	if m.fn != "" && !plain.reached[n] {
		return nil
	}
	v.met = true
	if _, err := s.run(ctx, t, 4*plain.took+20*time.Second, "REHOME_MUTANT="+strconv.Itoa(n)); err != nil {
		v.by = t.String()
	}
	return ctx.Err()
}

// list notes all codecs and their fixtures.
func (s *suite) list(ctx context.Context) error {
	s.fixtures, s.codecs = map[string][]string{}, map[string]string{}
	for _, f := range all.Registry().All() {
		if f.Sessions != nil {
			s.codecs["rehome/formats/"+strings.ReplaceAll(f.Name, "-", "")] = f.Name
		}
	}
	for _, codec := range s.codecs {
		out, err := s.run(ctx, trial{law{conformance, probes}, codec, ""}, 10*time.Minute, "REHOME_MUTANT=0", "-test.v")
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		for _, found := range regexp.MustCompile(`=== RUN +TestCodecs/`+codec+`/(.*)/probe\n`).FindAllSubmatch(out, -1) {
			s.fixtures[codec] = append(s.fixtures[codec], string(found[1]))
		}
	}
	return nil
}

// asItIs returns what a trial of the code as it is met.
func (s *suite) asItIs(ctx context.Context, t trial) (*plainRun, error) {
	made, _ := s.plain.LoadOrStore(t, &plainRun{reached: map[int]bool{}})
	p := made.(*plainRun)
	p.once.Do(func() {
		began := time.Now()
		file := filepath.Join(s.dir, strconv.FormatInt(began.UnixNano(), 36))
		var out []byte
		if out, p.err = s.run(ctx, t, 10*time.Minute, "REHOME_MUTANT_REACHED="+file); p.err != nil {
			p.err = fmt.Errorf("%v fails without a change: %w: %s", t, p.err, out)
			return
		}
		p.took = time.Since(began)
		var text []byte
		text, p.err = os.ReadFile(file)
		for word := range bytes.FieldsSeq(text) {
			n, _ := strconv.Atoi(string(word))
			p.reached[n] = true
		}
	})
	return p, p.err
}

func (s *suite) run(ctx context.Context, t trial, limit time.Duration, setting string, more ...string) ([]byte, error) {
	args := append(more, "-test.short", "-test.failfast", "-test.run", t.String(), "-test.timeout", limit.String())
	test := exec.CommandContext(ctx, s.binaries[t.pkg], args...)
	test.Dir = s.packages[t.pkg].Dir
	test.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400", setting)
	return test.CombinedOutput()
}

// users are the formats whose code uses a package.
func (s *suite) users(name string) (codecs []string) {
	for _, path := range slices.Sorted(maps.Keys(s.packages)) {
		codec := s.codecs[path]
		if codec != "" && (path == name || slices.Contains(s.packages[path].Deps, name)) {
			codecs = append(codecs, codec)
		}
	}
	return codecs
}
