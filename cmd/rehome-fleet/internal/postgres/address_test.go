package postgres

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"rehome/formats"
)

func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://h/db":                                        "postgres://h/db?schema=cursor_agents",
		"postgresql://u:p@h:6543/db?schema=a%22b":                "postgres://h:6543/db?schema=a%22b",
		"postgres://u@[::1]:6543/db?sslmode=disable&schema=x":    "postgres://[::1]:6543/db?schema=x",
		"postgres:///db?host=/run/pg&schema=x&connect_timeout=3": "postgres:///db?host=%2Frun%2Fpg&schema=x",
	} {
		h, err := New(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
		} else if h.Name() != want {
			t.Errorf("%s: %s, want %s", address, h.Name(), want)
		}
	}
}

// No error repeats a password, however the address is malformed.
func TestPasswords(t *testing.T) {
	for _, password := range []string{"s3cret", "s3cret%", "s3cret%zz", "s3c@s3cret", "s3:cret/s3cret", "s3cret#s3cret", "s3cret?s3cret", "s3cret s3cret", "s3cret\x1bs3cret", "[s3cret"} {
		for _, address := range []string{
			"postgres://u:" + password + "@127.0.0.1:1/db", "postgres://u:" + password + "@127.0.0.1:x/db", "postgres://u:" + password + "@127.0.0.1:99999/db",
			"postgres://127.0.0.1:1/db?password=" + password, "postgres://127.0.0.1:1/db?sslmode=s3cret&password=" + password, "postgres://u:" + strings.ReplaceAll(password, "@", "") + "@",
			"postgres://127.0.0.1:1/db?schema=&password=" + password, "postgres://127.0.0.1:1/db?schema=a&schema=" + password,
			"postgres://127.0.0.1:1/db?service=none&password=" + password, "postgres://u:" + password + "@127.0.0.1:1/db?sslcert=none&sslkey=none",
		} {
			h, err := New(address)
			if err == nil {
				if err = h.Fetch(t.Context(), t.TempDir()+"/x"); err == nil {
					t.Fatal(address)
				}
				if strings.Contains(h.Name(), "cret") {
					t.Errorf("%s: %s", address, h.Name())
				}
			}
			if text := err.Error() + formats.Hint(err); strings.Contains(text, "cret") || strings.Contains(text, "\x1b") || strings.Contains(text, "\n") {
				t.Errorf("%s: %s", address, text)
			}
		}
	}
}

// A server's text is one line without control characters and without the password.
func TestServerText(t *testing.T) {
	h, err := New("postgres://u:s%25cret@h/db")
	if err != nil {
		t.Fatal(err)
	}
	err = h.Fail(&pgconn.PgError{Severity: "ERROR", Code: "XX", Message: "no \x1b]0;pwned\a s%cret s%25cret \u202e\n\xff" + strings.Repeat("x", 10_000)})
	if s := err.Error(); strings.ContainsAny(s, "\x1b\a\n\u202e") || !utf8.ValidString(s) || strings.Contains(s, "cret") || len(s) > 1200 {
		t.Errorf("%q", s)
	}
	if !errors.Is(h.Fail(&pgconn.PgError{Code: "55P03"}), formats.ErrBusy) || !errors.Is(h.Fail(&pgconn.PgError{Code: "53100"}), formats.ErrFull) {
		t.Error("busy and full have no kind")
	}
	long, _ := New("postgres://h/db?schema=" + strings.Repeat("é", 31))
	if b := long.backup(12); len(b) > 63 || !strings.HasSuffix(b, "é_bak_12") {
		t.Error(b)
	}
}
