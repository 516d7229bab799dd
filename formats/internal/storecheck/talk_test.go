package storecheck_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// TestOneBuffer: a store may give each blob in the same buffer, and need that
// buffer to say where a blob stands. What is found does not depend on it.
func TestOneBuffer(t *testing.T) {
	calls := []byte(`{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool-call","toolCallId":"c1","toolName":"Read","args":{}},{"type":"tool-call","toolCallId":"c2","toolName":"Read","args":{}}]}`)
	gives := []byte(`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c2","toolName":"Read","result":"y"},{"type":"tool-result","toolCallId":"c3","toolName":"Read","result":"z"}]}`)
	blobs := [][]byte{calls, gives, append(ref(1, calls), ref(1, gives)...)}
	var found []string
	q := &rule.Pass{Layers: everything, Report: func(f rule.Finding) { found = append(found, f.Rule+" "+f.At.String()+" "+f.Pointer+" "+f.Text()) }}
	var x agentstate.Index
	for i, b := range blobs {
		x.Add(sha256.Sum256(b), uint64(i), b)
	}
	var buffer []byte
	read := func(_ context.Context, at uint64) ([]byte, error) {
		buffer = append(buffer[:0], blobs[at]...)
		return buffer, nil
	}
	where := func(at uint64) store.Addr {
		for i := range buffer {
			buffer[i] = '#'
		}
		return store.Addr{File: fmt.Sprint("blob ", at)}
	}
	g := storecheck.NewGraph(q, &x, read, where)
	if err := g.Root(t.Context(), sha256.Sum256(blobs[2]), store.Addr{}, ""); err != nil {
		t.Fatal(err)
	}
	g.Finish(store.Addr{})
	slices.Sort(found)
	want := []string{`RH413 blob 0 /content/1 "c1"`, `RH415 blob 1 /content/1 "c3"`}
	if !slices.Equal(found, want) {
		t.Errorf("got %q, want %q", found, want)
	}
}

// TestUnread: of a conversation with a message that is too large to be read, nothing can be
// told about results.
func TestUnread(t *testing.T) {
	calls := []byte(`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"Read","args":{}}]}`)
	large := []byte(`{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"Read","result":"y"}]}`)
	blobs := [][]byte{calls, large, append(ref(1, calls), ref(1, large)...)}
	for _, unread := range []bool{false, true} {
		var x agentstate.Index
		for i, b := range blobs {
			x.Add(sha256.Sum256(b), uint64(i), b)
		}
		calls, large := false, false
		q := &rule.Pass{Layers: everything, Report: func(f rule.Finding) { t.Errorf("%s %s", f.Rule, f.Text()) }}
		read := func(_ context.Context, at uint64) ([]byte, error) {
			calls, large = calls || at == 0, large || at == 1
			if at == 1 && unread {
				return nil, nil
			}
			return blobs[at], nil
		}
		g := storecheck.NewGraph(q, &x, read, func(uint64) store.Addr { return store.Addr{} })
		if err := g.Root(t.Context(), sha256.Sum256(blobs[2]), store.Addr{}, ""); err != nil || !calls || !large {
			t.Fatal(err, calls, large)
		}
		g.Finish(store.Addr{})
	}
}

// TestAddressesAreFewLookups: however many blobs a root names that are missing,
// where the root stands is looked up once.
func TestAddressesAreFewLookups(t *testing.T) {
	for _, n := range []int{1000, 300_000} {
		var root []byte
		for i := range n {
			root = append(root, ref(1, fmt.Append(nil, i))...)
		}
		reads, asked, found := 0, 0, 0
		q := &rule.Pass{Layers: everything, Report: func(rule.Finding) { found++ }}
		var x agentstate.Index
		x.Add(sha256.Sum256(root), 0, root)
		read := func(context.Context, uint64) ([]byte, error) { reads++; return root, nil }
		where := func(uint64) store.Addr { asked++; return store.Addr{File: "f"} }
		g := storecheck.NewGraph(q, &x, read, where)
		if err := g.Root(t.Context(), sha256.Sum256(root), store.Addr{}, ""); err != nil {
			t.Fatal(err)
		}
		if found != n || reads+asked > 4 {
			t.Errorf("%d findings of %d, %d reads, %d addresses", found, n, reads, asked)
		}
	}
}
