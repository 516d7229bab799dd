package write

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/internal/object"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// composer writes a session as a composer.
type composer struct {
	*family
	build    formats.SessionBuild
	s        session.Session // without its streams; links have the ids of composers
	id       string
	space    workspace
	parent   *composer
	children []*composer
	talk     *agentwrite.Conversation

	same    []byte // the root of the state, if that is copied
	headers []byte // the list of bubbles
	bubbles int
	last    string                // the id of the last one
	said    lists.Said            // what they say
	ids     map[[16]byte]struct{} // of bubbles, that messages had
	open    map[string][]*call    // calls without a result, by their ids in the source
	queue   []*call               // the same in order, and some that have a result by now
	held    int                   // bytes that open calls hold
	request string                // of the turn
	mode    string
	turns   []byte // what the state does not hold of them, see turn
	title   string // first line of the first prompt
	first   int64  // time of the first bubble
	latest  int64
	buf     []byte
}

func blobKey(id agentstate.ID) string { return lists.BlobRow + id.String() }

// composer begins a session.
func (f *family) composer(s *session.Session, b formats.SessionBuild, parent *composer) *composer {
	c := &composer{family: f, build: b, s: *s, id: ComposerID(&s.Head), parent: parent, ids: map[[16]byte]struct{}{}, open: map[string][]*call{}}
	c.s.Messages, c.s.Files = nil, nil
	c.s.Children = slices.Clone(s.Children)
	for i := range c.s.Children {
		link := &c.s.Children[i]
		id := ComposerID(&session.Head{Agent: s.Agent, ID: link.Session})
		if id != link.Session {
			c.s.Graph = nil // it has the other id
		}
		link.Session = id
	}
	if parent != nil {
		c.s.Graph = nil // it has no root of its own
	}
	if g := c.s.Graph; g != nil {
		c.s.Graph = &session.Graph{}
		c.s.Graph.Copy = c.copier(g, c.s.Graph)
	}
	c.space = workspaceOf(cmp.Or(b.Cwd, s.Workspace))
	c.talk = agentwrite.New(&c.s, agentwrite.Options{Put: f.put, Cwd: b.Cwd, DropThinking: b.DropThinking, FullHistory: b.FullHistory, OnLoss: b.OnLoss, Turn: c.turn})
	return c
}

// copier copies a state, and keeps its root, which comes last. own is told what g is.
func (c *composer) copier(g, own *session.Graph) func(context.Context, func(context.Context, [32]byte, []byte) error) ([32]byte, bool, error) {
	return func(ctx context.Context, put func(context.Context, [32]byte, []byte) error) ([32]byte, bool, error) {
		if put == nil {
			root, whole, err := g.Copy(ctx, nil)
			own.Partial, own.Extras = g.Partial, g.Extras
			return root, whole, err
		}
		var last []byte
		root, whole, err := g.Copy(ctx, func(ctx context.Context, id [32]byte, data []byte) error {
			last = append(last[:0], data...)
			return put(ctx, id, data)
		})
		if whole {
			c.same = last
		}
		return root, whole, err
	}
}

// times returns when the session was created and changed, in milliseconds.
func (c *composer) times() (created, updated int64) {
	if created = c.first; inReach(c.s.Created) {
		created = c.s.Created.Millis()
	}
	created = cmp.Or(created, session.FirstMoment)
	if updated = c.latest; inReach(c.s.Updated) {
		updated = c.s.Updated.Millis()
	}
	return created, cmp.Or(updated, created)
}

// inReach reports whether a time is one that the client's lists can hold.
func inReach(at session.Stamp) bool {
	return at.Known() && at.Millis() >= 1e11 && at.Millis() < 1e14
}

// finish writes the record of a session, its head, and those of its subagents.
func (c *composer) finish(ctx context.Context, heads *[]byte) error {
	c.wanted = true
	root, err := c.talk.Root(ctx)
	c.wanted = false
	if err != nil {
		return err
	}
	if !slices.Contains(statuses[:], c.s.Status) {
		c.note(loss.SessionMetadata)
	}
	if len(c.same) > 0 {
		c.stored = c.same
	}
	if c.s.Title == "" && c.title != "" {
		c.note(loss.TitleFromPrompt)
		c.s.Title = c.title
	}
	c.disk.row(lists.ComposerRow+c.id, c.record(root), false)
	c.disk.row(lists.RootRow+c.id, []byte(root.String()), false)
	*heads = append(append(*heads, c.head()...), '\n')
	for _, kid := range c.children {
		if err := kid.finish(ctx, heads); err != nil {
			return err
		}
	}
	return nil
}

// statuses are those of sessions that a composer can have.
var statuses = [...]string{"", "idle", "archived", "draft", "error"}

// common writes the members that a record and a head have in common.
func (c *composer) common(o *object.Writer) {
	created, updated := c.times()
	o.Text("composerId", c.id)
	o.Text("name", cmp.Or(c.s.Title, "New Agent")) // the client hides those without a name
	o.Raw("createdAt", strconv.AppendInt(nil, created, 10))
	o.Raw("lastUpdatedAt", strconv.AppendInt(nil, updated, 10))
	o.Text("unifiedMode", cmp.Or(c.s.Mode, "agent"))
	o.NonEmpty("createdOnBranch", c.s.Branch)
	o.Flag("isArchived", c.s.Status == "archived")
	o.Flag("isDraft", c.s.Status == "draft")
	o.Name("workspaceIdentifier")
	o.B = c.space.identifier(o.B)
	if c.parent != nil {
		o.Name("subagentInfo")
		of := object.New(o.B)
		of.Text("parentComposerId", c.parent.id)
		of.NonEmpty("toolCallId", c.s.Parent.Call)
		of.NonEmpty("subagentTypeName", c.s.Parent.Kind)
		o.B = of.Done()
	}
}

func (c *composer) head() []byte {
	o := object.New(nil)
	o.Text("type", "head")
	c.common(&o)
	o.B = append(o.B, headMembers...)
	return o.Done()
}

// headMembers are members that the client has in each head.
const headMembers = `,"forceMode":"edit","hasUnreadMessages":false,"totalLinesAdded":0,"totalLinesRemoved":0,"filesChangedCount":0,"subtitle":"",` +
	`"hasBlockingPendingActions":false,"hasPendingPlan":false,"isWorktree":false,"worktreeStartedReadOnly":false,"isSpec":false,"isProject":false,` +
	`"isBestOfNSubcomposer":false,"numSubComposers":0,"referencedPlans":[],"trackedGitRepos":[]`

// record returns the record of a session, in the version that clients of 2026 write.
func (c *composer) record(root agentstate.ID) []byte {
	o := object.New(nil)
	o.Num("_v", 17)
	c.common(&o)
	status := "completed"
	if c.s.Status == "error" {
		status = c.s.Status
	}
	o.Text("status", status)
	o.Raw("fullConversationHeadersOnly", append(append([]byte{'['}, c.headers...), ']'))
	o.B = append(o.B, emptyMembers...)
	o.NonEmpty("agentBackend", "cursor-agent")
	o.Flag("isNAL", true)
	o.Flag("isAgentic", true)
	o.Name("modelConfig")
	model := object.New(o.B)
	model.Text("modelName", cmp.Or(c.s.Model, "default"))
	o.B = model.Done()
	if x := c.s.Context; x != nil {
		o.Raw("contextTokensUsed", strconv.AppendInt(nil, x.Used, 10))
		o.Raw("contextTokenLimit", strconv.AppendInt(nil, x.Max, 10))
	}
	o.Raw("todos", todos(c.s.Todos))
	object.List(&o, "trackedGitRepos", c.s.Repos, func(repo *object.Writer, r session.Repo) {
		repo.Text("repoPath", r.Path)
		repo.NonEmpty("branchName", r.Branch)
	})
	o.Name("subagentComposerIds")
	o.B = append(o.B, '[')
	for i, kid := range c.children {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = session.AppendString(o.B, kid.id)
	}
	o.B = append(o.B, ']')
	o.Text("conversationState", "~"+base64.StdEncoding.EncodeToString(c.stored))
	o.Name("rehome")
	mark := object.New(o.B)
	mark.Text("agent", c.s.Agent)
	mark.Text("session", c.s.ID)
	mark.Text("state", root.String())
	mark.Num("bubbles", c.bubbles)
	mark.NonEmpty("last", c.last)
	mark.Text("said", c.said.String())
	if len(c.turns) > 0 {
		mark.Raw("turns", append(append([]byte{'['}, c.turns...), ']'))
	}
	o.B = mark.Done()
	return o.Done()
}

// turn keeps what the state does not hold of a turn, as a turn of canonical text.
func (c *composer) turn(number int, t *session.Turn) {
	if t.ID == "" && t.Status == "" && t.Error == "" && t.Usage == nil {
		return
	}
	if len(c.turns) > 0 {
		c.turns = append(c.turns, ',')
	}
	line := session.AppendMessage(nil, &session.Message{Turn: &session.Turn{Number: number, ID: t.ID, Status: t.Status, Error: t.Error, Usage: t.Usage}})
	c.turns = append(c.turns, rawjson.Last(line, "turn")...)
}

// emptyMembers are members that the client has in each record. It reads some of them
// without a look whether they are there.
const emptyMembers = `,"text":"","richText":"","hasLoaded":true,"conversationMap":{},"context":{},"gitGraphFileSuggestions":[],"generatingBubbleIds":[],` +
	`"isReadingLongFile":false,"codeBlockData":{},"originalFileStates":{},"newlyCreatedFiles":[],"newlyCreatedFolders":[],"capabilities":[],` +
	`"capabilityContexts":[],"isFileListExpanded":false,"usageData":{},"allAttachedFileCodeChunksUris":[],"subComposerIds":[],` +
	`"isQueueExpanded":true,"hasUnreadMessages":false,"totalLinesAdded":0,"totalLinesRemoved":0,"addedFiles":0,"removedFiles":0,` +
	`"isContinuationInProgress":false,"queueItems":[]`

func todos(list []session.Todo) []byte {
	b := []byte{'['}
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		t := &list[i]
		o := object.New(b)
		o.Text("id", t.ID)
		o.Text("content", t.Content)
		o.Text("status", t.Status)
		if inReach(t.Created) {
			o.Text("createdAt", session.FormatMillis(t.Created.Millis()))
		}
		if inReach(t.Updated) {
			o.Text("updatedAt", session.FormatMillis(t.Updated.Millis()))
		}
		o.Texts("dependencies", t.DependsOn)
		b = o.Done()
	}
	return append(b, ']')
}
