package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rehome/cmd/rehome-fleet/internal/documents"
	"rehome/formats"
)

// verify reads everything again and compares it with the files.
func (p *placing) verify(ctx context.Context) error {
	digest, manifest, err := p.manifest(ctx)
	if err != nil {
		return err
	}
	var again documents.Digest
	n, err := p.join(ctx, manifest, nil, &again, true)
	if err != nil {
		return err
	}
	if want := string(p.digest.Sum()); want != string(again.Sum()) || want != string(digest) || n != p.placed.Documents {
		return errors.New("what was read again differs from the files, and was not committed")
	}
	want, got := sha256.New(), sha256.New()
	put := func(w io.Writer) func(string, []byte) error {
		return func(name string, part []byte) error {
			_, err := fmt.Fprintf(w, "%q %d %s", name, len(part), part)
			return err
		}
	}
	if err := p.src.Kept(put(want)); err != nil {
		return err
	}
	for _, kind := range []string{"file", "sidecar"} {
		if err := p.kept(ctx, kind, put(got)); err != nil {
			return err
		}
	}
	if string(want.Sum(nil)) != string(got.Sum(nil)) {
		return errors.New("the files beside the documents changed while they were read, and nothing was committed")
	}
	return nil
}

// commit commits. If the connection ends meanwhile, another one asks what became of it.
func (p *placing) commit(ctx context.Context) error {
	id, err := p.query(ctx, "select txid_current()")
	if err != nil {
		return err
	}
	if err = p.exec(ctx, "commit"); err == nil {
		return nil
	}
	if pe := (*pgconn.PgError)(nil); errors.As(err, &pe) && !strings.HasPrefix(pe.Code, "57") && !strings.HasPrefix(pe.Code, "08") {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	for ; ; time.Sleep(200 * time.Millisecond) {
		c, e := p.home.connect(ctx)
		if e == nil {
			rows, e := c.query(ctx, "select txid_status($1::bigint)", string(id[0][0]))
			c.close()
			if e == nil && len(rows) == 1 {
				switch string(rows[0][0]) {
				case "committed":
					return nil
				case "aborted":
					return err
				}
			}
		}
		if ctx.Err() != nil {
			return &formats.Error{At: p.home.name, Err: p.home.secrets.Error(fmt.Errorf("the connection ended while the store was committed: %w", err)),
				Hint: "look whether the store is there before you try again"}
		}
	}
}
