package sqlitefile

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/sqlitepages"
)

// rest looks at what is not in any tree, and has SQLite judge what only it can.
func (k *lookout) rest(s *Seen) error {
	k.Owner = ""
	if err := k.sideTrees(s); err != nil {
		return err
	}
	if k.Flaws > 0 {
		s.Sound = false
		return nil
	}
	if err := k.unused(); err != nil {
		return err
	}
	if k.Flaws == 0 {
		if err := k.lost(); err != nil {
			return err
		}
	}
	for i, t := range k.doubt {
		if i == mostJudged {
			k.Flawf(sqlitepages.BadIndex, "%d more tables do not match their indexes", len(k.doubt)-i)
			break
		}
		if err := k.judge(t); err != nil {
			return err
		}
	}
	if binary.BigEndian.Uint32(k.image.Head[52:]) == 0 || k.Flaws > 0 {
		return nil
	}
	if i := slices.IndexFunc(s.Plan.Tables, func(t PlanTable) bool { return t.computed }); i >= 0 {
		k.image.say("the pointer map was not checked, because that would run the expressions of table " + strconv.QuoteToGraphic(s.Plan.Tables[i].Name))
		return nil
	}
	return k.judge("")
}

// mostJudged bounds how many tables SQLite is asked about.
const mostJudged = 100

// computed reports an index that is not what its table says, where SQLite is not
// asked: it would run whatever a stranger wrote into the schema.
func (k *lookout) computed(t *PlanTable, x *planIndex) {
	k.Report(sqlitepages.Flaw{Kind: sqlitepages.BadIndex, Table: t.Name, Says: "index %q", Args: []any{x.name}})
}

// sideTrees walks the indexes that no plan could be made for.
func (k *lookout) sideTrees(s *Seen) error {
	planned := map[string]bool{}
	for i := range s.Plan.Tables {
		for _, x := range s.Plan.Tables[i].indexes {
			planned[x.name] = true
		}
	}
	for _, o := range s.Objects {
		if o.Type == "index" && o.Root != 0 && !planned[o.Name] {
			if err := k.Tree(o.Name, o.Root, &sqlitepages.Leaf{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unused walks the list of unused pages.
func (k *lookout) unused() error {
	said := binary.BigEndian.Uint32(k.image.Head[36:])
	found := uint32(0)
	bad := func(format string, args ...any) error {
		k.Flawf(sqlitepages.BadFree, format, args...)
		return nil
	}
	claim := func(n uint32) bool {
		if n == 0 || n > k.image.Pages || k.Used[n/64]>>(n%64)&1 != 0 {
			return false
		}
		k.Used[n/64] |= 1 << (n % 64)
		found++
		return true
	}
	for n := binary.BigEndian.Uint32(k.image.Head[32:]); n != 0; {
		if !claim(n) {
			return bad("the free list points to page %d, which does not exist or is in use", n)
		}
		page, err := k.image.View(n)
		if err != nil {
			return k.Unread(n, err)
		}
		count := int(binary.BigEndian.Uint32(page[4:]))
		if count < 0 || count > k.image.Usable/4-2 {
			return bad("page %d claims to list %d pages", n, uint32(count))
		}
		for i := range count {
			if leaf := binary.BigEndian.Uint32(page[8+4*i:]); !claim(leaf) {
				return bad("page %d lists page %d, which does not exist or is in use", n, leaf)
			}
		}
		n = binary.BigEndian.Uint32(page)
	}
	if found != said {
		return bad("the free list has %d pages, but the header says %d", found, said)
	}
	return nil
}

// lost tells of pages that are neither in use nor on that list.
func (k *lookout) lost() error {
	m := k.image
	count, first := 0, uint32(0)
	lock := uint32(1<<30/m.Page) + 1
	every := uint32(m.Usable/5 + 1)
	mapped := binary.BigEndian.Uint32(m.Head[52:]) != 0
	for n := uint32(2); n <= m.Pages; n++ {
		if n&(1<<20-1) == 0 && k.Ctx.Err() != nil {
			return k.Ctx.Err()
		}
		if k.Used[n/64] == ^uint64(0) {
			n |= 63
			continue
		}
		if k.Used[n/64]>>(n%64)&1 != 0 || n == lock {
			continue
		}
		if at := (n-2)/every*every + 2; mapped && (n == at || at == lock && n == at+1) {
			continue
		}
		if count++; first == 0 {
			first = n
		}
	}
	if count > 0 {
		k.Flawf(sqlitepages.LostPage, "pages: %d, starting at page %d", count, first)
	}
	return nil
}

// judge asks SQLite about one table; "" asks about the whole file. It is asked
// where something looks odd, and where looking at pages cannot tell.
func (k *lookout) judge(table string) error {
	db, err := k.image.SQL(k.Ctx)
	if err != nil {
		return err
	}
	pragma := "PRAGMA quick_check"
	if table != "" {
		pragma = "PRAGMA integrity_check(" + quote(table) + ")"
	}
	rows, err := db.conn.QueryContext(k.Ctx, pragma)
	if err != nil {
		return db.blame(k.Ctx, table, err)
	}
	defer rows.Close()
	for rows.Next() {
		var said string
		if err := rows.Scan(&said); err != nil {
			return db.blame(k.Ctx, table, err)
		}
		if said != "ok" {
			k.Report(flawOf(table, said))
		}
	}
	return db.blame(k.Ctx, table, rows.Err())
}

// flawOf sorts what SQLite says.
func flawOf(table, said string) sqlitepages.Flaw {
	f := sqlitepages.Flaw{Kind: sqlitepages.BadValue, Table: table, Says: "%s", Args: []any{said}}
	switch {
	case table == "":
		f.Kind = sqlitepages.BadMap
	case strings.HasPrefix(said, "non-unique entry"):
	case strings.HasPrefix(said, "row not in PRIMARY KEY order"):
		f.Kind = sqlitepages.BadOrder
	case strings.Contains(said, " index "):
		f.Kind = sqlitepages.BadIndex
	}
	if rest, ok := strings.CutPrefix(said, "row "); ok {
		number, _, _ := strings.Cut(rest, " ")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			f.RowID, f.HasID = n, true
		}
	}
	return f
}

// ForeignKeys calls f with each row of a table whose foreign key leads nowhere,
// and the table that it names.
func (m *Image) ForeignKeys(ctx context.Context, table string, f func(row int64, parent string)) error {
	db, err := m.SQL(ctx)
	if err != nil {
		return err
	}
	rows, err := db.conn.QueryContext(ctx, "SELECT coalesce(rowid,0), parent FROM pragma_foreign_key_check(?1)", table)
	if err != nil {
		if code(err) == 1 { // a parent that cannot be one: "foreign key mismatch"
			return nil
		}
		return db.blame(ctx, table, err)
	}
	defer rows.Close()
	for rows.Next() {
		var row int64
		var parent string
		if err := rows.Scan(&row, &parent); err != nil {
			return db.blame(ctx, table, err)
		}
		f(row, parent)
	}
	if err := rows.Err(); err != nil && code(err) != 1 {
		return fmt.Errorf("%w", db.blame(ctx, table, err))
	}
	return nil
}
