package cursorsdk

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/store"
)

// putLines hands lines of one kind to a writer, numbered from 1 on.
func putLines(t *testing.T, w store.Writer, k sdkdoc.Kind, n int, line func(i int) string, after func()) {
	t.Helper()
	for i := range n {
		b := store.NewBatch(int(k), 1)
		b.Row(int64(i + 1))
		b.AddText(line(i))
		if err := w.Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		after()
	}
}

// TestMixedAgents: lines of several agents that come mixed are in the right
// databases, in their order.
func TestMixedAgents(t *testing.T) {
	at := filepath.Join(t.TempDir(), "root")
	w, err := createDocuments(t.Context(), formats.Build{Path: at, Schema: sdkdoc.Schema(), OnSidecar: func(store.SidecarItem) {}})
	if err != nil {
		t.Fatal(err)
	}
	putLines(t, w, sdkdoc.Checkpoint, 60, func(i int) string {
		return fmt.Sprintf(`{"agentId":"a%d","blobId":"%064x","dataBase64":"AAAA"}`, i*i%7, i)
	}, func() {})
	if err := errors.Join(w.Finish(t.Context()), w.Close()); err != nil {
		t.Fatal(err)
	}
	var got []string
	d := openDoc(t, at)
	for b, err := range d.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			got = append(got, string(b.Cell(i, 0).Bytes()))
		}
		b.Release()
	}
	n := map[string]int{}
	for _, line := range got {
		var agent, blob int
		if _, err := fmt.Sscanf(line, `{"agentId":"a%d","blobId":"%64x","dataBase64":"AAAA"}`, &agent, &blob); err != nil || agent != blob*blob%7 {
			t.Fatal(line, err)
		}
		key := fmt.Sprint(agent)
		if blob < n[key] {
			t.Errorf("%s stands behind blob %d", line, n[key])
		}
		n[key] = blob
	}
	if len(got) != 60 || len(n) != 4 {
		t.Errorf("%d lines of %d agents", len(got), len(n))
	}
}

func openDoc(t *testing.T, at string) store.Reader {
	t.Helper()
	l, err := formats.Locate(at)
	if err != nil {
		t.Fatal(err)
	}
	r, err := openDocuments(t.Context(), l, formats.View{Kind: formats.SDKDocuments})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
