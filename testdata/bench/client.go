package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// sdkVersion is the client that the generated state roots imitate.
const sdkVersion = "1.0.32"

// client is the real SDK, installed, and a node that can run it.
type client struct {
	Node, Modules string
	script        string
}

// client installs the SDK as testdata/interop does, into the same cache. The
// installer ends by starting the judge.mjs beside it, on the node it found and
// with the modules it installed; beside a copy of it stands one that only says
// which these are.
func (b *bench) client(ctx context.Context) (*client, error) {
	from, at := filepath.Join(b.root, "testdata", "interop"), b.made("interop")
	if err := os.CopyFS(at, os.DirFS(from)); err != nil {
		return nil, err
	}
	judge, err := os.ReadFile(b.script("sdk_where.mjs"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(at, "judge.mjs"), judge, 0o644); err != nil {
		return nil, err
	}
	out, err := command(ctx, []string{"node", filepath.Join(at, "install.mjs")}).Output()
	if err != nil {
		return nil, fmt.Errorf("cannot be had: testdata/interop/install.mjs: %w", err)
	}
	c := &client{script: b.script("sdk_copy.mjs")}
	return c, json.Unmarshal(out, c)
}

// copy carries a state root to lines through the SDK's own classes.
func (c *client) copy(root, to string) []string {
	return []string{c.Node, "--no-warnings", c.script, c.Modules, root, to}
}
