package cursoride

import (
	"bytes"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// work says where a session works: its folder, branch and repositories.
func (c *chat) work(f *fields) {
	e, s := c.entry, &c.out
	id, at := identified(f.raw(comSpace))
	e.space = orElse(e.space, id)
	if e.folder == (folder{}) {
		e.folder = at
	}
	if sp := c.x.space(orElse(e.space, id)); sp != nil && e.folder == (folder{}) {
		e.folder = sp.folder
	}
	tree := f.raw(comTree)
	if e.folder.path == "" {
		e.folder.path = rawjson.Text(rawjson.Last(tree, "worktreePath"))
	}
	s.Branch = orElse(s.Branch, rawjson.Text(rawjson.Last(tree, "branchName")))
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
	s.Workspace = e.folder.path
	if e.folder.uri != "" {
		s.Extras = append(s.Extras, session.Extra{Name: "workspace.uri", Raw: session.AppendString(nil, e.folder.uri)})
	}
	for value := range rawjson.Elements(f.raw(comTodos)) {
		s.Todos = append(s.Todos, todo(value))
	}
	if list := f.full(comTodos); list != nil && list[0] != '[' {
		f.keep(comTodos)
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
				t.Needs = append(t.Needs, rawjson.Text(need))
			}
		default:
			t.Extras = append(t.Extras, session.Extra{Name: string(name), Raw: bytes.Clone(v)})
		}
	}
	return t
}
