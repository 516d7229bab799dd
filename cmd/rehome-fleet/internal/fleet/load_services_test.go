//go:build services

package fleet

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/rehome-fleet/internal/catalog"
	"rehome/internal/fsx"
)

// sql runs statements on the test's PostgreSQL.
func sql(t testing.TB, text string) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(service(t, "REHOME_TEST_PGBIN"), "psql"), "-XAtqv", "ON_ERROR_STOP=1", service(t, "REHOME_TEST_POSTGRES"), "-c", text).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", text, err, out)
	}
	return string(out)
}

// schemaAddress returns the address of a new schema.
func schemaAddress(t testing.TB, schema string) string {
	t.Helper()
	u, err := url.Parse(service(t, "REHOME_TEST_POSTGRES"))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	drop := "SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema + " CASCADE"
	sql(t, drop)
	t.Cleanup(func() { sql(t, drop) })
	return u.String()
}

// catalogRows returns all rows but the times of their loading.
func catalogRows(t testing.TB, schema string) string {
	t.Helper()
	var b strings.Builder
	for _, table := range []string{"stores", "sessions", "losses", "findings"} {
		b.WriteString(sql(t, "SELECT '"+table+" ' || (to_jsonb(t) - 'loaded_at')::text FROM "+schema+"."+table+" t ORDER BY 1"))
	}
	return b.String()
}

// TestLoad loads what two shards wrote: the rows that `rehome-fleet catalog` loads from the
// stores. Loaded in pieces, killed or again, they are the same.
func TestLoad(t *testing.T) {
	bin, src, dir := program(t), machines(t, 3), t.TempDir()
	place(t, "codex/home", src, "machine-1/home/ann/.codex")
	place(t, "sdk/play/jsonl", src, "machine-2/agents")
	write(t, src, "machine-2/garbage/store.db", strings.Repeat("\x00\xff", 999))
	write(t, src, "machine-2/title.jsonl", `{"type":"session","version":1,"id":"s","agent":"codex","title":"a\u0000b"}`+"\n"+`{"type":"message","id":"1","role":"user","parts":[{"type":"text","text":"x"}]}`+"\n")
	long := "machine-2/" // too long for an index, and not compressible
	for i := range byte(13) {
		for k := range byte(5) {
			sum := sha256.Sum256([]byte{i, k})
			long += base64.RawURLEncoding.EncodeToString(sum[:])
		}
		long += "/"
	}
	long += "s.jsonl"
	write(t, src, long, strings.Replace(jsonLine, "%d", "x", 1))
	plan, out, one := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out"), filepath.Join(dir, "one")
	total := decode[PlanResult](t, must(t, 0, bin, "--json", "plan", src, "--out", plan, "--verb", "catalog", "--unit-size", "40kB"))
	to := schemaAddress(t, "fleet_load")
	result := func(code int, plan, out, to string) LoadResult {
		t.Helper()
		text := firstJSON(must(t, code, bin, "--json", "load", plan, to, "--out", out))
		valid(t, "fleet-load-result-1", []byte(text))
		return decode[LoadResult](t, text)
	}
	must(t, 0, bin, "do", plan, "--shard", "0/2", "--out", out)
	half := result(4, plan, out, to)
	if half.Loaded == 0 || half.Missing == 0 || half.NoReceipt == 0 || half.Complete {
		t.Errorf("%+v", half)
	}
	must(t, 0, bin, "do", plan, "--shard", "1/2", "--out", out)
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", one)
	sameTree(t, tree(t, out), tree(t, one))
	all := result(4, plan, out, to) // the long name
	if all.Unchanged != half.Loaded || all.Stores != total.Stores || all.Missing != 0 || all.NotRead != 1 || all.Failed != 1 || !strings.Contains(all.Listed[1].Detail+all.Listed[0].Detail, "index row") {
		t.Errorf("%+v after %+v", all, half)
	}
	want := catalogRows(t, "fleet_load")
	if again := result(4, plan, one, to); again.Unchanged != all.Loaded+all.Unchanged || again.Loaded != 0 || catalogRows(t, "fleet_load") != want {
		t.Errorf("again: %+v", again)
	}
	for _, text := range []string{`"agent": "codex"`, `"code": "L301"`, `"rule": "RH310"`} {
		if !strings.Contains(want, text) {
			t.Errorf("no row has %s", text)
		}
	}
	// The stores themselves.
	direct := schemaAddress(t, "fleet_direct")
	p, err := openPlan(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, at := range p.units {
		u, err := p.unit(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range u.Stores {
			run(t, bin, "catalog", filepath.Join(src, s.Path), direct, "--machine", u.Machine, "--unit", u.ID, "--base", s.Path)
		}
	}
	sameTree(t, catalogRows(t, "fleet_direct"), want)
	// The server ends the session that would commit the third store.
	sql(t, `DELETE FROM fleet_load.stores; DELETE FROM fleet_load.sessions; DELETE FROM fleet_load.losses; DELETE FROM fleet_load.findings;
		CREATE FUNCTION fleet_load.die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF (SELECT count(*) FROM fleet_load.stores) > 2 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$;
		CREATE TRIGGER die AFTER INSERT ON fleet_load.stores FOR EACH STATEMENT EXECUTE FUNCTION fleet_load.die()`)
	must(t, 1, bin, "load", plan, to, "--out", out)
	if got := catalogRows(t, "fleet_load"); strings.Count(got, "stores {") != 2 || !contained(got, want) {
		t.Errorf("killed: %s", got)
	}
	sql(t, "DROP FUNCTION fleet_load.die() CASCADE")
	if r := result(4, plan, out, to); r.Unchanged != 2 {
		t.Errorf("%+v", r)
	}
	sameTree(t, catalogRows(t, "fleet_load"), want)
	// A store of no machine, which another one could replace.
	loose, looseOut := filepath.Join(dir, "loose.ndjson"), filepath.Join(dir, "loose")
	write(t, looseOut+"-src", "s.jsonl", strings.Replace(jsonLine, "%d", "x", 1))
	must(t, 0, bin, "plan", looseOut+"-src", "--out", loose, "--verb", "catalog")
	must(t, 0, bin, "do", loose, "--shard", "0/1", "--out", looseOut)
	if r := result(4, loose, looseOut, to); r.Failed != 1 || r.Loaded != 0 {
		t.Errorf("%+v", r)
	}
	// A later plan: another unit, and nothing of the old one.
	write(t, src, "machine-0/home/ann/.claude/projects/-home-ann-app/"+chatID+".jsonl", strings.Replace(jsonLine, "%d", "changed", 1))
	next := filepath.Join(dir, "next.ndjson")
	must(t, 0, bin, "plan", src, "--out", next, "--verb", "catalog", "--unit-size", "40kB")
	must(t, 0, bin, "do", next, "--shard", "0/1", "--out", out)
	if r := result(4, next, out, to); r.Loaded == 0 || r.Loaded > 2 {
		t.Errorf("%+v", r)
	}
	if now := catalogRows(t, "fleet_load"); strings.Count(now, "\n") != strings.Count(want, "\n") || now == want {
		t.Error("another number of rows, or the same rows")
	}
}

// contained reports whether all lines of a text are in another.
func contained(text, in string) bool {
	for line := range strings.Lines(text) {
		if !strings.Contains(in, line) {
			return false
		}
	}
	return true
}

// TestLoadHostile loads results in a bucket that somebody forged: no row of another machine,
// store or unit, and the other stores are loaded.
func TestLoadHostile(t *testing.T) {
	bin, dir := program(t), t.TempDir()
	src, _ := serverMachines(t, "load", 1)
	plan, local := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out")
	must(t, 0, bin, "plan", src, "--out", plan, "--verb", "catalog")
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", "s3://load-results/r")
	to := schemaAddress(t, "fleet_hostile")
	must(t, 0, bin, "load", plan, to, "--out", "s3://load-results/r")
	want := catalogRows(t, "fleet_hostile")
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", local)
	receipts, _ := filepath.Glob(filepath.Join(local, unitsName, "*", receiptName))
	if len(receipts) != 1 || strings.Count(want, "stores {") != 2 {
		t.Fatalf("%q\n%s", receipts, want)
	}
	file := filepath.Join(filepath.Dir(receipts[0]), storeFolder(0), catalog.FileName)
	good, err := os.ReadFile(file)
	sealed, errSealed := os.ReadFile(receipts[0])
	if err != nil || errSealed != nil {
		t.Fatal(err, errSealed)
	}
	const rule = `{"finding":{"count":1,"rule":"forged"`
	for name, c := range map[string]struct {
		text   string
		reason string // "": loaded
	}{
		"another store":    {string(good) + rule + `,"store":"machine-9/x"}}` + "\n", ""},
		"another machine":  {string(good) + rule + `,"machine":"machine-9"}}` + "\n", "unknown column"},
		"U+0000":           {string(good) + rule + `,"title":"\u0000"}}` + "\n", "U+0000"},
		"not of this kind": {"{}\n", "not the header"},
		"empty":            {"", "not the header"},
		"a link":           {"LINK", "cannot be read"},
		"not there":        {"GONE", "missing"},
		"another digest":   {string(good) + "x", "digest"},
	} {
		r := decode[Receipt](t, string(sealed))
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		switch c.text {
		case "LINK":
			err = os.Symlink("/etc/passwd", file)
		case "GONE":
		default:
			err = os.WriteFile(file, []byte(c.text), 0o666)
			if at := slices.IndexFunc(r.Files, func(f File) bool { return f.Name == storeFolder(0)+"/"+catalog.FileName }); name != "another digest" && err == nil {
				r.Files[at].Size = int64(len(c.text))
				r.Files[at].Digest, err = fsx.Digest(file)
			}
		}
		text, errText := json.Marshal(r)
		if err != nil || errText != nil {
			t.Fatal(err, errText)
		}
		write(t, filepath.Dir(receipts[0]), receiptName, string(text))
		sql(t, "DELETE FROM fleet_hostile.stores WHERE store LIKE '%store.db' OR store LIKE '%"+chatID+"'; UPDATE fleet_hostile.stores SET digest = 'old'")
		code := 4
		if c.reason == "" {
			code = 0
		}
		got := decode[LoadResult](t, firstJSON(must(t, code, bin, "--json", "load", plan, to, "--out", local)))
		if c.reason != "" && (got.Failed != 1 || got.Loaded != 1 || !strings.Contains(got.Listed[0].Detail, c.reason)) || c.reason == "" && got.Loaded != 2 {
			t.Errorf("%s: %+v", name, got)
		}
		if n := sql(t, "SELECT count(*) FROM fleet_hostile.findings WHERE machine <> 'machine-0' OR store LIKE 'machine-9%'"); n != "0\n" {
			t.Errorf("%s: %s foreign rows", name, n)
		}
		if os.Remove(file); os.WriteFile(file, good, 0o666) != nil {
			t.Fatal("cannot restore")
		}
	}
	write(t, filepath.Dir(receipts[0]), receiptName, string(sealed))
	sql(t, "UPDATE fleet_hostile.stores SET digest = 'old'")
	must(t, 0, bin, "load", plan, to, "--out", local)
	sameTree(t, catalogRows(t, "fleet_hostile"), want)
	// Another verb has no rows.
	must(t, 0, bin, "plan", src, "--out", plan+"2")
	must(t, 1, bin, "load", plan+"2", to, "--out", local)
}
