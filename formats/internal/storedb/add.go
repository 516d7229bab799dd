package storedb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"rehome/formats"
	"rehome/formats/internal/sqlitefile"
)

// Added is what was added to the blobs of a database, as an undo record says it.
type Added struct {
	Above  int64  `json:"above"`  // the greatest row id before
	Count  int64  `json:"count"`  // of new rows, which follow it
	Digest string `json:"digest"` // of their ids
}

// AddBlobs adds the blobs of the attached database to those of an Editor's, at to. Blobs are
// named by their content, so none is replaced.
func AddBlobs(ctx context.Context, e *sqlitefile.Editor, to string) (*Added, error) {
	row, err := e.One(ctx, "SELECT coalesce(max(rowid), 0) FROM main.blobs")
	if err != nil {
		return nil, err
	}
	b := &Added{Above: row[0].Int()}
	if row, err = e.One(ctx, "SELECT +n.id FROM "+sqlitefile.Attached+".blobs AS n JOIN main.blobs AS b ON b.id=n.id WHERE b.data IS NOT n.data"); err != nil {
		return nil, err
	}
	if row != nil {
		return nil, &formats.Error{At: to, Pointer: "blobs", Err: fmt.Errorf("corrupt: blob %s does not match its id", row[0].Bytes()), Hint: "run `rehome check` on this store; --again writes another copy"}
	}
	if b.Count, err = e.Exec(ctx, "INSERT INTO main.blobs (id, data) SELECT id, data FROM "+sqlitefile.Attached+".blobs WHERE id NOT IN (SELECT id FROM main.blobs WHERE id IS NOT NULL) ORDER BY rowid"); err != nil {
		return nil, err
	}
	b.Digest, err = b.digest(ctx, e)
	return b, err
}

// Remove removes what was added, if it is still there. Otherwise it was not added: blobs to
// which nothing refers do no harm.
func (b *Added) Remove(ctx context.Context, e *sqlitefile.Editor) error {
	if is, err := b.digest(ctx, e); err != nil || is != b.Digest {
		return err
	}
	_, err := e.Exec(ctx, "DELETE FROM main.blobs WHERE rowid>?1 AND rowid<=?1+?2", b.Above, b.Count)
	return err
}

// digest returns the digest of the ids of the blobs that were added.
func (b *Added) digest(ctx context.Context, e *sqlitefile.Editor) (string, error) {
	sum := sha256.New()
	for row, err := range e.Rows(ctx, "SELECT +id FROM main.blobs WHERE rowid>?1 AND rowid<=?1+?2 ORDER BY rowid", b.Above, b.Count) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q\n", row[0].Bytes())
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
