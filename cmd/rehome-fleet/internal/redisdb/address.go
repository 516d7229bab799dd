package redisdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
)

const hintURL = "use redis://USER@HOST:PORT/DB?store=NAME and the password in REDISCLI_AUTH, or in the URL with %25, %40, %3A, %2F, %3F, %23 for % @ : / ? #"

// Home is a store in a database of a Redis server.
type Home struct {
	options *redis.Options
	store   string
	prefix  string // of its keys, without the last colon
	backup  bool   // of another store
	trusted bool
	name    string
	secrets home.Secrets
}

var _ home.Home = (*Home)(nil)

// Schemes returns the schemes of addresses.
func Schemes() []string { return []string{"redis", "rediss"} }

// New returns the home at an address. It does not connect.
func New(address string) (*Home, error) {
	bad := func(what string) error {
		return &formats.Error{At: "Redis address", Err: errors.New(what), Hint: hintURL}
	}
	// What a URL that cannot be parsed says of itself may be a piece of its password.
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(Schemes(), u.Scheme) || u.Fragment != "" || strings.Count(address, "@") > 1 {
		return nil, bad("not a valid URL")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, bad("not a valid URL")
	}
	if len(q["store"]) != 1 || len(q["durable"]) > 1 {
		return nil, bad("it does not name one store with ?store=NAME")
	}
	h := &Home{store: q.Get("store"), trusted: q.Get("durable") == "trusted"}
	switch {
	case h.store == "" || len(h.store) > 200 || !utf8.ValidString(h.store) || strings.ContainsAny(h.store, "{}") || strings.ContainsFunc(h.store, unicode.IsControl):
		return nil, bad("store is not a name of 1 to 200 bytes without braces")
	case q.Has("durable") && !h.trusted:
		return nil, bad("durable can only be trusted")
	}
	h.prefix = "{" + h.store + "}"
	if m := regexp.MustCompile(`^(.+)~bak-([1-9][0-9]{0,3})$`).FindStringSubmatch(h.store); m != nil {
		h.prefix, h.backup = "{"+m[1]+"}~bak-"+m[2], true
	}
	q.Del("store")
	q.Del("durable")
	u.RawQuery = q.Encode()
	if h.options, err = redis.ParseURL(u.String()); err != nil {
		return nil, bad("invalid host, port, database number or parameter")
	}
	o := h.options
	if o.Password == "" {
		o.Password = os.Getenv("REDISCLI_AUTH")
	}
	h.secrets = home.Secrets{o.Password}
	o.Protocol, o.MaxRetries, o.DisableIdentity = 2, -1, true // nothing is sent twice
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if o.ReadTimeout == 0 {
		o.ReadTimeout, o.WriteTimeout = time.Minute, time.Minute
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: fmt.Sprint("/", o.DB), RawQuery: url.Values{"store": {h.store}}.Encode()}
	h.name = shown.String()
	return h, nil
}

// Name returns the address without the user and the password.
func (h *Home) Name() string { return h.name }

// Format returns cursor-ndjson.
func (h *Home) Format() string { return "cursor-ndjson" }

// Many returns false.
func (h *Home) Many() bool { return false }

// fail adds the place to an error, and makes it safe to print.
func (h *Home) fail(err error) error {
	if e := (*formats.Error)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	if strings.Contains(err.Error(), "OOM command not allowed") {
		return &formats.Error{At: h.name, Err: fmt.Errorf("%w on the server: maxmemory is reached", formats.ErrFull)}
	}
	return &formats.Error{At: h.name, Err: h.secrets.Error(err)}
}

func (h *Home) client() *redis.Client {
	logging.Disable() // it logs to stderr what it returns as errors, too
	o := *h.options
	return redis.NewClient(&o)
}

// durable fails unless the server keeps what it is given.
func (h *Home) durable(ctx context.Context, c *redis.Client) error {
	for _, setting := range []string{"maxmemory-policy", "appendonly", "save"} {
		got, err := c.ConfigGet(ctx, setting).Result()
		var reply redis.Error
		switch {
		case err != nil && !errors.As(err, &reply):
			return err
		case (err != nil || len(got) == 0) && h.trusted:
			return nil
		case err != nil || len(got) == 0:
			return &formats.Error{At: h.name, Err: errors.New("the server does not report whether it keeps what it is given"),
				Hint: "allow CONFIG GET, or add &durable=trusted if you know that it persists its data and evicts no keys"}
		case setting == "maxmemory-policy" && got[setting] != "noeviction":
			return &formats.Error{At: h.name, Err: errors.New(h.secrets.Clean("the server may evict keys: its maxmemory-policy is " + got[setting])),
				Hint: "set maxmemory-policy to noeviction, or use another server"}
		case setting == "appendonly" && got[setting] == "yes":
			return nil
		case setting == "save" && got[setting] == "":
			return &formats.Error{At: h.name, Err: errors.New("the server forgets everything when it stops: neither appendonly nor save is set"),
				Hint: "set appendonly to yes, or use another server"}
		}
	}
	return nil
}

// layout returns whether there is a store. Another layout is an error.
func (h *Home) layout(ctx context.Context, c *redis.Client) (bool, error) {
	layout, err := c.HGet(ctx, h.prefix+":meta", "layout").Result()
	if err == nil && layout == "1" {
		return true, nil
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	// A meta without a layout is none of ours, either.
	n, err := c.Exists(ctx, h.prefix+":meta", h.prefix+":keys").Result()
	if err != nil || n == 0 {
		return false, err
	}
	return false, h.foreign("layout " + layout)
}

func (h *Home) foreign(what string) error {
	return &formats.Error{At: h.name, Err: errors.New(h.secrets.Clean("not a store of layout 1: " + what)),
		Hint: "name another store, or use a version of rehome that knows this one"}
}

var (
	escaper   = strings.NewReplacer("%", "%25", ":", "%3A")
	unescaper = strings.NewReplacer("%25", "%", "%3A", ":")
)

// pair joins an agent and a part of it to one name, and split is its inverse.
func pair(agent, part []byte) string { return escaper.Replace(string(agent)) + ":" + string(part) }

func split(name string) (agent, part string, ok bool) {
	agent, part, ok = strings.Cut(name, ":")
	return unescaper.Replace(agent), part, ok
}

// zsets are the zsets of the order of documents, by sets.
func zsets() []string { return []string{"ord:agents", "ord:runs", "ord:events", "ord:blobs"} }
