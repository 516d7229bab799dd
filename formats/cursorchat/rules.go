package cursorchat

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// check applies the rules to one chat.
func check(bench *storecheck.Bench) func(context.Context, *formats.Location, formats.View, *rule.Pass) error {
	return func(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) (err error) {
		path, file := l.Path, ""
		if l.IsDir() {
			path, file = filepath.Join(l.Path, storeName), storeName
		}
		s, err := bench.Open(ctx, path, file, v, q)
		if s == nil || err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		c := &checker{Store: s, q: q, file: file, dir: chatFolder(path), folder: l.IsDir()}
		return c.run(ctx)
	}
}

// checker is the check of one chat.
type checker struct {
	*storecheck.Store
	q      *rule.Pass
	file   string
	dir    string // the chat's folder, "" if it is not known
	folder bool   // and all of it is the store
}

func (c *checker) run(ctx context.Context) error {
	c.Meta.Ask()
	root, named := c.Meta.RootID()
	whole := store.Addr{File: c.file, Set: "blobs"}
	switch {
	case !c.Meta.There && c.Graph.Len() > 0:
		c.q.Reportf("RH401", store.Addr{File: c.file, Set: "meta"}, "%v", rule.Count(int64(c.Graph.Len()), "blob"))
	case !c.Meta.Whole:
	case named:
		if err := c.Graph.Root(ctx, root, c.Meta.At, "/latestRootBlobId"); err != nil {
			return err
		}
	case c.Meta.Root != "":
		c.q.Report(rule.Finding{Rule: "RH303", At: c.Meta.At, Pointer: "/latestRootBlobId", Message: "not a blob id"})
	}
	if c.Meta.Whole && (named && c.Graph.Has(root) || c.Meta.Root == "") {
		c.Graph.Finish(whole)
	}
	if c.dir == "" {
		return nil
	}
	beside := c.beside()
	if c.Meta.Whole && c.q.Enabled(rule.References) {
		c.names()
		var workspaces []string
		if beside != "" {
			workspaces = []string{beside}
		} else if named && c.Graph.Has(root) {
			uris, err := c.Graph.Workspaces(ctx, root)
			if err != nil {
				return err
			}
			workspaces = paths(uris)
		}
		c.hash(workspaces)
	}
	return nil
}

// names compares the folder with the id in the meta row.
func (c *checker) names() {
	folder := placed(c.dir)
	switch {
	case c.Meta.Agent == "", filepath.Base(c.dir) == storecheck.AgentFolder(c.Meta.Agent): // one of the SDK's, alone
	case folder == "":
		c.q.Reportf("RH311", store.Addr{}, "id is %q", c.Meta.Agent)
	case folder != c.Meta.Agent:
		c.q.Report(rule.Finding{Rule: "RH309", At: c.Meta.At, Pointer: "/agentId", Message: "%q in the folder %q", Args: []any{c.Meta.Agent, folder}})
	}
}

// hash compares the folder above with the workspace, if that is known.
func (c *checker) hash(workspaces []string) {
	hash := filepath.Base(filepath.Dir(c.dir))
	if len(workspaces) == 0 || filepath.Base(filepath.Dir(c.dir)) == acpName {
		return
	}
	if !slices.ContainsFunc(workspaces, func(w string) bool { return filename.HashOf(w) == hash }) {
		c.q.Reportf("RH310", store.Addr{}, "the MD5 of its workspace is %s", filename.HashOf(workspaces[0]))
	}
}

// beside checks the file beside the database, and returns the workspace that it names.
func (c *checker) beside() (cwd string) {
	path := filepath.Join(c.dir, besideName)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // chats before May 2026 do not have the file
	}
	doc := readBeside(path)
	if rawjson.Last(doc, "cwd") != nil {
		cwd = rawjson.TextAt(doc, "cwd")
	}
	if c.folder && (len(doc) == 0 || strings.TrimLeft(string(doc), " \t\r\n")[0] != '{') {
		c.q.Reportf("RH203", store.Addr{File: besideName}, "not a JSON object")
	}
	return cwd
}

// paths returns the folders that URIs name.
func paths(uris []string) (out []string) {
	for _, s := range uris {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "file" || u.Path == "" {
			continue
		}
		out = append(out, u.Path)
	}
	return out
}
