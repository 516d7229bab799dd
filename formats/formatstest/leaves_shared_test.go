package formatstest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats/formatstest"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/formatstest/leaves"
)

// sharedLaws are what is declared for decoders that several formats use, by the formats.
type sharedLaws struct {
	of     map[string]*leaves.Law
	stores map[*leaves.Law]int // fixtures of these formats
}

func newSharedLaws(t *testing.T) *sharedLaws {
	t.Helper()
	state := leaves.NewLaw(t, nil, declaredIn(t, "internal/agentstate"), nil)
	sdk := leaves.NewLaw(t, nil, declaredIn(t, "internal/sdksession"), state)
	return &sharedLaws{map[string]*leaves.Law{"cursor-chat": state, "cursor-ide": state, "cursor-ndjson": sdk, "cursor-sdk": sdk}, map[*leaves.Law]int{}}
}

// expect adds the fixtures of a case.
func (s *sharedLaws) expect(c formatstest.Case) {
	for law := s.of[c.Format.Name]; law != nil; law = law.Shared {
		s.stores[law] += len(c.Fixtures) + len(c.MoreStores)
	}
}

// generatedAgents are generated stores of agents, every other one
// with an unknown field in each message and an unknown member in each object.
func generatedAgents(t *testing.T, format string) (out []formatstest.Fixture) {
	t.Helper()
	write := map[string]func(t *testing.T, dir string, p *graphgen.Plan, g *graphgen.Graph) (string, error){
		"cursor-chat": func(t *testing.T, dir string, p *graphgen.Plan, g *graphgen.Graph) (string, error) {
			return p.WriteChat(t.Context(), dir, g, graphgen.Odd{})
		},
		"cursor-ide": func(t *testing.T, dir string, p *graphgen.Plan, g *graphgen.Graph) (string, error) {
			return p.WriteIDE(t.Context(), dir, g)
		},
		"cursor-ndjson": func(_ *testing.T, dir string, p *graphgen.Plan, g *graphgen.Graph) (string, error) {
			dir = filepath.Join(dir, "lines")
			return dir, p.WriteLines(dir, g)
		},
		"cursor-sdk": func(t *testing.T, dir string, p *graphgen.Plan, g *graphgen.Graph) (string, error) {
			at, err := p.WriteSDK(t.Context(), filepath.Join(dir, "project"), g, graphgen.Odd{})
			return at.Project, err
		},
	}[format]
	if write == nil {
		return nil
	}
	for n := range graphSeeds * int(graphgen.Shapes) {
		shape, seed, strange := graphgen.Shape(n%int(graphgen.Shapes)), uint64(n)/uint64(graphgen.Shapes), n/int(graphgen.Shapes)%2 == 1
		name := fmt.Sprintf("%s %d", shape, seed)
		if strange {
			name += " with strangers"
		}
		out = append(out, formatstest.Fixture{Name: name, Real: true, Uncounted: format == "cursor-ide", Make: func(t *testing.T, dir string) string {
			p := graphgen.New(seed, shape)
			g := p.Graph()
			if strange {
				g = p.StrangeGraph()
			}
			path, err := write(t, dir, p, g)
			if err != nil {
				t.Fatal(err)
			}
			return path
		}})
	}
	if format == "cursor-chat" {
		out = append(out, formatstest.Fixture{Name: "went back", Real: true, Make: wentBack})
	}
	return out
}

// wentBack is a chat in which the user went back on a turn, and that only the file beside its
// database names.
func wentBack(t *testing.T, dir string) string {
	p := graphgen.New(3, graphgen.SpineOnly)
	p.Name = ""
	path, err := p.WriteChat(t.Context(), dir, p.WentBack(graphgen.New(2, graphgen.SpineOnly)), graphgen.Odd{})
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(path, "meta.json")
	text, err := os.ReadFile(beside)
	if err == nil {
		text = bytes.Replace(text, []byte(`"title":""`), []byte(`"title":"Named later"`), 1)
		err = os.WriteFile(beside, text, 0o644)
	}
	if err != nil || !bytes.Contains(text, []byte("Named later")) {
		t.Fatal(err)
	}
	return path
}

// graphSeeds is how many stores of agents are generated of each shape.
const graphSeeds = 4

// declarations: each of them covers something in one of the fixtures of one of the formats.
func (s *sharedLaws) declarations(t *testing.T) {
	for law, n := range s.stores {
		if law.Stores < n {
			continue // only some of the fixtures were tested
		}
		for _, text := range law.Unused() {
			t.Error(text)
		}
	}
}
