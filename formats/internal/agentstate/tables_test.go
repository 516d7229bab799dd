package agentstate

import (
	"bytes"
	"database/sql"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"encoding/base64"

	_ "rehome/formats/internal/sqlitefile" // the driver
	"rehome/formats/internal/wire"
	"rehome/internal/rawjson"
)

// fill gives each field of a struct a random value.
func fill(r *rand.Rand, m reflect.Value) {
	text := func() []byte { return bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(200)) }
	id := func() ID { return ID{byte(r.Uint32()), 31: 1} }
	for i := range m.NumField() {
		switch p := m.Field(i).Addr().Interface().(type) {
		case *[]byte:
			*p = text()
		case *uint64:
			*p = r.Uint64() >> r.IntN(64)
		case *bool:
			*p = r.IntN(2) > 0
		case *ID:
			*p = id()
		case *[]ID:
			for range r.IntN(5) {
				*p = append(*p, id())
			}
		case *wire.List:
			for range r.IntN(5) {
				value := id()
				p.AddEntry(text(), value[:])
			}
		}
	}
}

// held is what a struct holds: lists as their values, and nothing of its unknown fields.
func held(m reflect.Value) (out []any) {
	for i := range m.NumField() {
		switch v := m.Field(i).Interface().(type) {
		case wire.Unknown:
		case wire.List:
			out = append(out, slices.Collect(v.All()))
		default:
			out = append(out, v)
		}
	}
	return out
}

// survives encodes random values of a message, and decodes them again.
func survives[T any](t *testing.T, c *wire.Codec[T]) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		want := new(T)
		fill(r, reflect.ValueOf(want).Elem())
		b := c.Append(nil, want)
		got := c.Decode(b)
		v := reflect.ValueOf(got).Elem()
		u := v.FieldByName("Unknown").Interface().(wire.Unknown)
		if !reflect.DeepEqual(held(v), held(reflect.ValueOf(want).Elem())) || u.NonCanonical || len(u.Raw) > 0 {
			t.Fatalf("%s: %x\n got %+v\nwant %+v", c.Message.Name, b, got, want)
		}
		if again := c.Append(nil, got); !bytes.Equal(again, b) {
			t.Fatalf("%s: %x is encoded as %x", c.Message.Name, b, again)
		}
	}
}

// TestTables: whatever a message of the table holds is encoded, and decoded again.
func TestTables(t *testing.T) {
	c := codecs()
	texts := []*wire.Codec[oneText]{c.plan, c.summary, c.custom, c.command, c.hook}
	for _, c := range texts {
		survives(t, c)
	}
	media := []*wire.Codec[blobWithData]{c.image, c.video, c.document}
	for _, c := range media {
		survives(t, c)
	}
	others := []func(){
		func() { survives(t, c.root) }, func() { survives(t, c.tokens) }, func() { survives(t, c.timing) }, func() { survives(t, c.repo) },
		func() { survives(t, c.file) }, func() { survives(t, c.todo) }, func() { survives(t, c.archive) }, func() { survives(t, c.child) },
		func() { survives(t, c.run) }, func() { survives(t, c.turn) }, func() { survives(t, c.agent) }, func() { survives(t, c.shell) },
		func() { survives(t, c.output) }, func() { survives(t, c.user) }, func() { survives(t, c.step) }, func() { survives(t, c.text) },
		func() { survives(t, c.thinking) }, func() { survives(t, c.call) }, func() { survives(t, c.body) }, func() { survives(t, c.truncated) },
		func() { survives(t, c.task) }, func() { survives(t, c.taskCases) }, func() { survives(t, c.success) },
	}
	for _, f := range others {
		f()
	}
	const fields = 2 // that are no codecs
	if n := reflect.TypeFor[codecTable]().NumField() - fields; n != len(texts)+len(media)+len(others) {
		t.Errorf("%d codecs, %d tested", n, len(texts)+len(media)+len(others))
	}
}

// genuine are the blobs of the stores under testdata that clients wrote, by file. Their
// names are not told: what a blob is follows from who refers to it.
func genuine(t *testing.T) map[string]map[ID][]byte {
	t.Helper()
	out := map[string]map[ID][]byte{}
	root := filepath.Join("..", "..", "..", "testdata")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		blobs := map[ID][]byte{}
		switch {
		case err != nil:
			return err
		case e.Name() == "checkpoints.ndjson":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range bytes.Lines(text) {
				id, ok := ParseID(rawjson.TextAt(line, "blobId"))
				data, err := base64.StdEncoding.DecodeString(rawjson.TextAt(line, "dataBase64"))
				if ok && err == nil {
					blobs[id] = data
				}
			}
		case e.Name() == "store.db" || strings.HasSuffix(filepath.Dir(path), "chat") && strings.HasSuffix(path, ".db"):
			db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro&immutable=1")
			if err != nil {
				return err
			}
			defer db.Close()
			rows, err := db.Query("SELECT id, data FROM blobs")
			if err != nil { // everything is in a log that immutable leaves out
				return nil
			}
			defer rows.Close()
			for rows.Next() {
				var name string
				var data []byte
				if err := rows.Scan(&name, &data); err != nil {
					return err
				}
				if id, ok := ParseID(name); ok {
					blobs[id] = data
				}
			}
		}
		if len(blobs) > 0 {
			out[path] = blobs
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rebuilder encodes a graph of blobs again, message by message.
type rebuilder struct {
	t     *testing.T
	blobs map[ID][]byte
	seen  map[ID]bool
	parts int
}

// again decodes a message, has f do so with what is nested in it, and compares the bytes
// that it is encoded as. It returns these bytes.
func again[T any](r *rebuilder, c *wire.Codec[T], b []byte, f func(m *T)) []byte {
	m := c.Decode(b)
	if f != nil {
		f(m)
	}
	r.parts++
	out := c.Append(nil, m)
	if !bytes.Equal(out, b) {
		r.t.Errorf("%s:\n    %x\nis encoded as\n    %x", c.Message.Name, b, out)
	}
	return out
}

// inner replaces a nested message by what it is encoded as.
func inner(b *[]byte, f func([]byte) []byte) {
	if *b != nil {
		*b = f(*b)
	}
}

func (r *rebuilder) each(ids []ID, f func(b []byte)) {
	for _, id := range ids {
		if b := r.blobs[id]; id != (ID{}) && !r.seen[id] && b != nil {
			r.seen[id] = true
			f(b)
		}
	}
}

func (r *rebuilder) list(l *wire.List, f func(b []byte) []byte) {
	var out wire.List
	for b := range l.All() {
		out.Add(f(b))
	}
	if *l != nil {
		*l = out
	}
}

func (r *rebuilder) root(b []byte) []byte {
	c := codecs()
	return again(r, c.root, b, func(m *conversation) {
		inner(&m.Tokens, func(b []byte) []byte { return again(r, c.tokens, b, nil) })
		r.list(&m.Timings, func(b []byte) []byte { return again(r, c.timing, b, nil) })
		r.list(&m.Repos, func(b []byte) []byte { return again(r, c.repo, b, nil) })
		r.each(m.Turns, r.turn)
		r.each(m.Todos, func(b []byte) { again(r, c.todo, b, nil) })
		r.each([]ID{m.Plan}, func(b []byte) { again(r, c.plan, b, nil) })
		r.each([]ID{m.Summary}, func(b []byte) { again(r, c.summary, b, nil) })
		r.each(append(m.Archives, m.Archive), func(b []byte) { again(r, c.archive, b, nil) })
		r.each(m.Prompts, func([]byte) {})
	})
}

func (r *rebuilder) turn(b []byte) {
	c := codecs()
	again(r, c.turn, b, func(m *turnCases) {
		inner(&m.Agent, func(b []byte) []byte {
			return again(r, c.agent, b, func(m *agentTurn) {
				r.each([]ID{m.User}, func(b []byte) {
					again(r, c.user, b, func(m *userMessage) {
						r.each([]ID{m.TextBlob, m.RichBlob}, func([]byte) {})
						r.list(&m.Hooks, func(b []byte) []byte { return again(r, c.hook, b, nil) })
					})
				})
				r.each(m.Steps, r.step)
			})
		})
		inner(&m.Shell, func(b []byte) []byte {
			return again(r, c.shell, b, func(m *shellTurn) {
				r.each([]ID{m.Command}, func(b []byte) { again(r, c.command, b, nil) })
				r.each([]ID{m.Output}, func(b []byte) { again(r, c.output, b, nil) })
			})
		})
	})
}

func (r *rebuilder) step(b []byte) {
	c := codecs()
	again(r, c.step, b, func(m *step) {
		inner(&m.Text, func(b []byte) []byte { return again(r, c.text, b, nil) })
		inner(&m.Thinking, func(b []byte) []byte { return again(r, c.thinking, b, nil) })
		inner(&m.Call, func(b []byte) []byte {
			return again(r, c.call, b, func(m *callEnvelope) {
				for f := wire.Read(m.Raw); f.Next(); {
					again(r, c.body, f.Body, nil)
				}
			})
		})
	})
}

// TestGenuineBlobs: what clients wrote is encoded as they wrote it, byte for byte.
func TestGenuineBlobs(t *testing.T) {
	stores, parts := genuine(t), 0
	for path, blobs := range stores {
		r := &rebuilder{t: t, blobs: blobs, seen: map[ID]bool{}}
		all := func(yield func(ID, error) bool) {
			for id := range blobs {
				if !yield(id, nil) {
					return
				}
			}
		}
		err := eachRoot(t.Context(), shelf(blobs), all, func(id ID, b []byte) { r.seen[id] = true; r.root(b) })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d blobs, %d messages", path, len(blobs), r.parts)
		parts += r.parts
	}
	if len(stores) < 8 || parts < 100 {
		t.Errorf("only %d stores with %d messages", len(stores), parts)
	}
}
