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
