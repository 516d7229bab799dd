package redisdb

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"rehome/formats"
)

func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"redis://h?store=a":                                "redis://h/0?store=a",
		"redis://u:p@h:1/3?store=a%22b&protocol=3":         "redis://h:1/3?store=a%22b",
		"rediss://[::1]:1/0?durable=trusted&store=a~bak-2": "rediss://[::1]:1/0?store=a~bak-2",
	} {
		h, err := New(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
		} else if h.Name() != want {
			t.Errorf("%s: %s, want %s", address, h.Name(), want)
		}
	}
	for _, address := range []string{"redis://h", "redis://h?store=", "redis://h?store=a&store=b", "redis://h?store=%7B", "redis://h?store=a%0Ab",
		"redis://h?store=%ff", "redis://h?store=a&durable=yes", "redis://h?store=a&other=1", "redis://h/x?store=a", "unix:///x?store=a"} {
		if h, err := New(address); err == nil {
			t.Errorf("%s: %s", address, h.Name())
		}
	}
	if h, _ := New("redis://h?store=a~bak-2"); h.prefix != "{a}~bak-2" || !h.backup {
		t.Errorf("%+v", h)
	}
}

// No error repeats a password, however the address is malformed.
func TestPasswords(t *testing.T) {
	for _, password := range []string{"s3cret", "s3cret%", "s3cret%zz", "s3c@s3cret", "s3:cret/s3cret", "1/s3cret", "1?s3cret", "1#s3cret", "s3cret s3cret", "s3cret\x1bs3cret", "[s3cret"} {
		for _, address := range []string{"redis://u:" + password + "@127.0.0.1:1/0?store=a", "redis://u:" + password + "@127.0.0.1:x/0?store=a", "redis://127.0.0.1:1/0?store=a&password=" + password,
			"rediss://u:" + password + "@127.0.0.1:99999/0?store=a", "redis://u:" + password + "@127.0.0.1:1/0", "redis://:" + password + "@127.0.0.1:1/x?store=a"} {
			h, err := New(address)
			if err == nil {
				if err = h.Fetch(t.Context(), t.TempDir()+"/x"); err == nil {
					t.Fatal(address)
				}
				if strings.Contains(h.Name(), "cret") {
					t.Errorf("%s: %s", address, h.Name())
				}
			}
			if text := err.Error() + formats.Hint(err); strings.Contains(text, "cret") || strings.ContainsAny(text, "\x1b\n") {
				t.Errorf("%s: %s", address, text)
			}
		}
	}
}

// A server's text is one line without control characters and without the password.
func TestServerText(t *testing.T) {
	h, err := New("redis://u:s%25cret@h?store=a")
	if err != nil {
		t.Fatal(err)
	}
	err = h.fail(errors.New("no \x1b]0;pwned\a s%cret \u202e\n\xff" + strings.Repeat("x", 10_000)))
	if s := err.Error(); strings.ContainsAny(s, "\x1b\a\n\u202e") || !utf8.ValidString(s) || strings.Contains(s, "cret") || len(s) > 1200 {
		t.Errorf("%q", s)
	}
}
