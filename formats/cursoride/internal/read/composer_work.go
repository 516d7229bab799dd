package read

import (
	"bytes"
	"cmp"
	"context"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// work says where a session works: its folder, branch and repositories.
func (c *Chat) work(f *members.Object) {
	e, s := c.Entry, &c.Out
	e.TakeFolder(c.x.Store, f.Raw(lists.ComSpace))
	tree := f.Raw(lists.ComTree)
	if e.Folder.Path == "" {
		e.Folder.Path = rawjson.TextAt(tree, "worktreePath")
	}
	s.Branch = cmp.Or(s.Branch, rawjson.TextAt(tree, "branchName"))
	for value := range rawjson.Elements(f.Raw(lists.ComRepos)) {
		repo := session.Repo{Path: rawjson.TextAt(value, "repoPath"), Branch: rawjson.TextAt(value, "branchName")}
		if repo.Path != "" {
			s.Repos = append(s.Repos, repo)
		}
		if e.Folder.Path == "" {
			e.Folder.Path = repo.Path
		}
	}
	f.KeepFull(lists.ComTree, lists.ComRepos, lists.ComSpace)
	c.settleFolder(e.Folder)
	for value := range rawjson.Elements(f.Raw(lists.ComTodos)) {
		s.Todos = append(s.Todos, todo(value))
	}
	if list := f.Full(lists.ComTodos); list != nil && list[0] != '[' {
		f.Keep(lists.ComTodos)
	}
}

// bubbleFolder finds the folder of a session in its first bubbles, where
// nothing else says it.
func (c *Chat) bubbleFolder(ctx context.Context) error {
	if c.Folder != (lists.Folder{}) || c.Remote {
		return nil
	}
	for i := range min(len(c.headers), 3) {
		b, err := c.read(ctx, c.headers[i], i, func(loss.Loss) {})
		if err != nil {
			return err
		}
		for value := range rawjson.Elements(rawjson.Last(b.body, "workspaceUris")) {
			if at := lists.ByURI(rawjson.Text(value)); at.Path != "" {
				c.settleFolder(at)
				return nil
			}
		}
		if dir := rawjson.TextAt(b.body, "workspaceProjectDir"); dir != "" {
			c.settleFolder(lists.ByURI(dir))
			return nil
		}
	}
	return nil
}

func (c *Chat) settleFolder(at lists.Folder) {
	c.Folder, c.Out.Workspace = at, at.Path
	if at.URI != "" {
		c.Out.Extras = append(c.Out.Extras, session.Extra{Name: "workspace.uri", Raw: session.AppendString(nil, at.URI)})
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
			if t.ID = text; text == "" && !members.Empty(v) {
				t.ID = string(v)
			}
		case "content":
			t.Content = text
		case "status":
			t.Status = text
		case "createdAt":
			t.Created, _ = lists.Moment(v)
		case "updatedAt":
			t.Updated, _ = lists.Moment(v)
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
