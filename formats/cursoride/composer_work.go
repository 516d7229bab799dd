package cursoride

import (
	"bytes"
	"cmp"
	"context"

	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// work says where a session works: its folder, branch and repositories.
func (c *chat) work(f *fields) {
	e, s := c.entry, &c.out
	e.located(c.x.place, f.raw(comSpace))
	tree := f.raw(comTree)
	if e.folder.path == "" {
		e.folder.path = rawjson.Text(rawjson.Last(tree, "worktreePath"))
	}
	s.Branch = cmp.Or(s.Branch, rawjson.Text(rawjson.Last(tree, "branchName")))
	for value := range rawjson.Elements(f.raw(comRepos)) {
		repo := session.Repo{Path: rawjson.Text(rawjson.Last(value, "repoPath")), Branch: rawjson.Text(rawjson.Last(value, "branchName"))}
		if repo.Path != "" {
			s.Repos = append(s.Repos, repo)
		}
		if e.folder.path == "" {
			e.folder.path = repo.Path
		}
	}
	f.keepFull(comTree, comRepos, comSpace)
	c.settleFolder(e.folder)
	for value := range rawjson.Elements(f.raw(comTodos)) {
		s.Todos = append(s.Todos, todo(value))
	}
	if list := f.full(comTodos); list != nil && list[0] != '[' {
		f.keep(comTodos)
	}
}

// located takes what a session's own record says of its folder: better than
// what all lists say but the table of heads.
func (e *entry) located(p *place, identifier []byte) {
	id, at := identified(identifier)
	if s := p.space(id); s != nil && at == (folder{}) {
		at = s.folder
	}
	if at != (folder{}) && !e.sure {
		e.space, e.folder = cmp.Or(id, e.space), at
	}
	e.space = cmp.Or(e.space, id)
	if e.folder == (folder{}) {
		e.folder = at
	}
}

// bubbleFolder finds the folder of a session in its first bubbles, where
// nothing else says it.
func (c *chat) bubbleFolder(ctx context.Context) error {
	if c.folder != (folder{}) || c.remote {
		return nil
	}
	for i := range min(len(c.headers), 3) {
		b, err := c.read(ctx, c.headers[i], i, func(loss.Loss) {})
		if err != nil {
			return err
		}
		for value := range rawjson.Elements(rawjson.Last(b.body, "workspaceUris")) {
			if at := byURI(rawjson.Text(value)); at.path != "" {
				c.settleFolder(at)
				return nil
			}
		}
		if dir := rawjson.Text(rawjson.Last(b.body, "workspaceProjectDir")); dir != "" {
			c.settleFolder(byURI(dir))
			return nil
		}
	}
	return nil
}

func (c *chat) settleFolder(at folder) {
	c.folder, c.out.Workspace = at, at.path
	if at.uri != "" {
		c.out.Extras = append(c.out.Extras, session.Extra{Name: "workspace.uri", Raw: session.AppendString(nil, at.uri)})
	}
}

// todo is one entry of a list, an object or an object in a string.
func todo(value []byte) (t session.Todo) {
	if value[0] == '"' {
		inner, _, err := rawjson.Line([]byte(rawjson.Text(value)))
		if err != nil || len(inner) == 0 || inner[0] != '{' {
			t.Content = rawjson.Text(value)
			return t
		}
		value = inner
	}
	for name, v := range rawjson.Members(value) {
		switch text := rawjson.Text(v); string(name) {
		case "id":
			if t.ID = text; text == "" && !hollow(v) {
				t.ID = string(v)
			}
		case "content":
			t.Content = text
		case "status":
			t.Status = text
		case "createdAt":
			t.Created, _ = moment(v)
		case "updatedAt":
			t.Updated, _ = moment(v)
		case "dependencies":
			for need := range rawjson.Elements(v) {
				t.DependsOn = append(t.DependsOn, rawjson.Text(need))
			}
		default:
			t.Extras = append(t.Extras, session.Extra{Name: string(name), Raw: bytes.Clone(v)})
		}
	}
	return t
}
