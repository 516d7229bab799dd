package sdkstore

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

// nowhere takes rows and keeps none.
type nowhere struct{}

func (nowhere) Put(_ context.Context, b *store.Batch) error { b.Release(); return nil }
func (nowhere) Finish(context.Context) error                { return nil }
func (nowhere) Close() error                                { return nil }

// opened counts databases that are open.
type opened struct {
	nowhere
	n *int
}

func (o opened) Close() error { *o.n--; return nil }

// TestFirstAgent: the rows of the first agent go to its database as their lines come,
// also when those of another come in between, and the database is closed after an error.
func TestFirstAgent(t *testing.T) {
	for _, jobs := range []int{1, 2} {
		open := 0
		to := Target{Create: func(context.Context, string, *Design) (store.Writer, error) {
			open++
			return opened{n: &open}, nil
		}}
		w, err := NewWriter(t.Context(), to, formats.Build{Schema: sdkdoc.Schema(), OnSidecar: func(store.SidecarItem) {}, Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		stores := &w.(*builder).stores
		for i, agent := range []string{"a", "a", "b", "a", "b"} {
			b := store.NewBatch(int(sdkdoc.Checkpoint), 1)
			b.Row(int64(i + 1))
			b.AddText(fmt.Sprintf(`{"agentId":%q,"blobId":"%064x","dataBase64":%q}`, agent, i, base64.StdEncoding.EncodeToString(make([]byte, 2<<20))))
			if err := w.Put(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if first, other := stores.bins["a"], stores.bins["b"]; open != 1 || len(first.rows) != 0 || len(other.rows) != 2 {
			t.Errorf("%d workers: %d databases are open; %d and %d pieces wait", jobs, open, len(first.rows), len(other.rows))
		}
		if err := w.Close(); err != nil || open != 0 {
			t.Errorf("%d workers: %d databases are left open, %v", jobs, open, err)
		}
	}
}

// TestManyAgents: what is held of checkpoints does not grow with the number of
// agents, in whatever order their lines come.
func TestManyAgents(t *testing.T) {
	const agents, rounds = 5000, 2
	blob := base64.StdEncoding.EncodeToString(make([]byte, 3<<10))
	to := Target{Create: func(context.Context, string, *Design) (store.Writer, error) { return nowhere{}, nil }}
	w, err := NewWriter(t.Context(), to, formats.Build{Schema: sdkdoc.Schema(), OnSidecar: func(store.SidecarItem) {}, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	stores := &w.(*builder).stores
	most := 0
	for i := range agents * rounds {
		b := store.NewBatch(int(sdkdoc.Checkpoint), 1)
		b.Row(int64(i + 1))
		b.AddText(fmt.Sprintf(`{"agentId":"a%d","blobId":"%064x","dataBase64":%q}`, i%agents, i, blob))
		if err := w.Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if len(stores.order)%500 != 0 {
			continue
		}
		held := len(stores.rows.held)
		for _, o := range stores.order {
			if o.batch != nil {
				held += o.batch.Size()
			}
		}
		most = max(most, held)
	}
	if len(stores.order) != agents || most > 9<<20 {
		t.Errorf("%d agents, %d bytes held", len(stores.order), most)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
