package cursorchat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/object"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// describe writes the meta row and the file beside the database. They hold no
// blobEncryptionKey, which the client makes where it is missing, and no setting that lets
// the client run commands without asking.
func (c *chat) describe(ctx context.Context, root agentstate.ID) error {
	s := c.session
	created, updated := s.Created, s.Updated
	if !created.Known() {
		created = c.created
	}
	if !updated.Known() {
		updated = c.updated
	}
	title := s.Title
	if envelope.FirstLine(title) == "" {
		title = cmp.Or(c.prompt, "New Agent") // as the client names what has no prompt yet
		c.note(loss.Loss{Code: loss.TitleFromPrompt})
	}
	row := object.New(nil)
	row.Text("agentId", c.id)
	row.Text("latestRootBlobId", root.String())
	row.Text("name", title)
	row.Text("mode", metaMode(s.Mode))
	row.Flag("isRunEverything", false)
	own := object.New(nil)
	own.Text("client", s.Agent)
	own.Text("session", s.ID)
	if millis(&row, "createdAt", created); !created.Known() {
		row.Num("createdAt", session.FirstMoment)
		own.Flag(storedb.CopyUndated, true)
	}
	if strings.HasPrefix(s.Agent, "cursor-") {
		row.NonEmpty("lastUsedModel", s.Model)
	} else {
		own.NonEmpty("model", s.Model) // another client's, which the CLI cannot use
	}
	own.Text("sha256", signature(c.ids.Sum(nil), root.String(), title))
	row.Raw(storedb.CopyMember, own.Done())

	b := store.NewBatch(metaSet, 2)
	b.Row(1)
	b.AddText(storedb.MetaKey)
	b.End(store.Text, hex.AppendEncode(b.Begin(), row.Done()))
	if err := c.db.Put(ctx, b); err != nil {
		return err
	}
	f := object.New(nil)
	f.Num("schemaVersion", 1)
	millis(&f, "createdAtMs", created)
	millis(&f, "updatedAtMs", updated)
	f.Flag("hasConversation", true)
	f.Text("title", title)
	f.Text("cwd", c.cwd)
	return os.WriteFile(filepath.Join(c.path, besideName), f.Done(), 0o600)
}

// millis writes a time, if it is known.
func millis(o *object.Writer, name string, at session.Stamp) {
	if at.Known() {
		o.Num(name, int(at.Millis()))
	}
}

// signature returns what Unmodified compares: a digest of the ids of all blobs in their
// order, of the root and of the name. The client makes other ones when it continues or
// renames a chat, and none when it only opens it.
func signature(ids []byte, root, name string) string {
	sum := sha256.Sum256([]byte(hex.EncodeToString(ids) + "\n" + root + "\n" + name))
	return hex.EncodeToString(sum[:])
}

// metaMode returns the mode in a meta row, which knows fewer than the state.
func metaMode(mode string) string {
	if slices.Contains([]string{"plan", "debug", "search"}, mode) {
		return mode
	}
	return storedb.DefaultMode
}

// workspace returns a folder without a final slash; the root if it is unknown.
func workspace(dir string) string {
	if len(dir) > 1 {
		dir = strings.TrimRight(dir, "/")
	}
	return cmp.Or(dir, "/")
}
