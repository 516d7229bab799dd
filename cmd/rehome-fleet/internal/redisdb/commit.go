package redisdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"rehome/formats"
)

func (p *placing) locked() string { return p.home.prefix + "~place" }
func (p *placing) stages() string { return p.home.prefix + "~stages" }

var errLost = errors.New("another program took over while the store was staged, and nothing was placed")

func (p *placing) exists() error {
	return &formats.Error{At: p.home.name, Err: formats.ErrExists, Hint: "pass --replace to replace it, which keeps the old store as " + p.home.store + "~bak-1 (-2, ...), or name another with ?store="}
}

// lock takes the lock, and removes what those left behind who had it before.
func (p *placing) lock(ctx context.Context) error {
	for end := time.Now().Add(lease + 2*time.Second); ; time.Sleep(100 * time.Millisecond) {
		ok, err := p.c.SetNX(ctx, p.locked(), p.token, lease).Result()
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if ok {
			break
		}
		if time.Now().After(end) {
			return &formats.Error{At: p.home.name, Err: fmt.Errorf("%w: another program places a store here", formats.ErrBusy), Hint: "wait until it is done and try again"}
		}
	}
	tokens, err := p.c.HKeys(ctx, p.stages()).Result()
	for _, token := range tokens {
		if err == nil {
			err = p.sweep(ctx, token)
		}
	}
	return err
}

// sweep removes what was staged under a token.
func (p *placing) sweep(ctx context.Context, token string) error {
	stage := p.home.prefix + "~stage-" + token + ":"
	for {
		names, err := p.c.SRandMemberN(ctx, stage+"keys", 500).Result()
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return p.c.HDel(ctx, p.stages(), token).Err()
		}
		keys, members := make([]string, len(names)), make([]any, len(names))
		for i, n := range names {
			keys[i], members[i] = stage+n, n
		}
		_, err = p.c.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Unlink(ctx, keys...)
			pipe.SRem(ctx, stage+"keys", members...)
			pipe.Eval(ctx, extend, []string{p.locked()}, p.token, lease.Milliseconds())
			return nil
		})
		if err != nil {
			return err
		}
	}
}

const (
	extend  = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`
	release = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
)

// renew keeps the lock.
func (p *placing) renew(ctx context.Context) error {
	n, err := p.c.Eval(ctx, extend, []string{p.locked()}, p.token, lease.Milliseconds()).Int64()
	if err == nil && n == 0 {
		return errLost
	}
	return err
}

// abandon removes what this Place staged, if the server can be reached.
func (p *placing) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease)
	defer cancel()
	if p.sweep(ctx, p.token) == nil {
		_ = p.c.Eval(ctx, release, []string{p.locked()}, p.token).Err()
	}
}

// rename makes the staged store the store. It looks at everything before it changes anything.
// KEYS: the lock, the stages, the prefixes of the store, of what is staged and of the backup.
const rename = `local live, stage, bak = KEYS[3], KEYS[4], KEYS[5]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'lost'} end
local old, new, was = {}, redis.call('SMEMBERS', stage .. 'keys'), {}
if redis.call('EXISTS', live .. 'meta', live .. 'keys') > 0 then
	local layout = redis.call('HGET', live .. 'meta', 'layout')
	if layout ~= '1' then return {'layout', layout or ''} end
	if ARGV[2] ~= '1' then return {'exists'} end
	if redis.call('EXISTS', bak .. 'meta', bak .. 'keys') > 0 then return {'taken'} end
	old = redis.call('SMEMBERS', live .. 'keys')
	old[#old + 1] = 'keys'
	local t = redis.call('TIME')
	local now = t[1] * 1000 + math.floor(t[2] / 1000)
	for _, name in ipairs(old) do
		was[name] = true
		if name:sub(1, 6) == 'lease:' then
			local till = redis.call('HGET', live .. name, 'until')
			if till and not (tonumber(till) and tonumber(till) <= now) then return {'busy', name:sub(7)} end
		end
		if redis.call('EXISTS', bak .. name) > 0 then return {'taken'} end
	end
	if not was['meta'] then return {'foreign', 'keys lacks meta'} end
end
new[#new + 1] = 'keys'
for _, name in ipairs(new) do
	if redis.call('EXISTS', stage .. name) == 0 then return {'lost'} end
	if not was[name] and redis.call('EXISTS', live .. name) > 0 then return {'foreign', 'key ' .. name .. ' of another program'} end
end
for _, name in ipairs(old) do
	if redis.call('EXISTS', live .. name) > 0 then redis.call('RENAME', live .. name, bak .. name) end
end
for _, name in ipairs(new) do redis.call('RENAME', stage .. name, live .. name) end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1])
return {'done', #old > 0 and 'old' or ''}`

func (p *placing) live() string { return p.home.prefix + ":" }
func (p *placing) bak() string  { return p.home.prefix + "~bak-" + strconv.Itoa(p.backup) + ":" }

// commit renames. If the connection ends meanwhile, another one asks what became of it.
func (p *placing) commit(ctx context.Context) error {
	replace := "0"
	if p.o.Replace {
		replace = "1"
	}
	for p.backup = 1; p.backup < 10_000; p.backup++ {
		if n, err := p.c.Exists(ctx, p.bak()+"meta", p.bak()+"keys").Result(); err != nil {
			return err
		} else if n > 0 {
			continue
		}
		if err := errors.Join(ctx.Err(), p.renew(ctx)); err != nil {
			return err
		}
		out, err := p.c.Eval(ctx, rename, []string{p.locked(), p.stages(), p.live(), p.stage, p.bak()}, p.token, replace).StringSlice()
		if err != nil {
			return p.settle(ctx, err)
		}
		switch out = append(out, ""); out[0] {
		case "done":
			if out[1] != "" {
				p.placed.Backup = p.home.store + "~bak-" + strconv.Itoa(p.backup)
			}
			return nil
		case "exists":
			return p.exists()
		case "busy":
			return &formats.Error{At: p.home.name, Err: fmt.Errorf("%w: agent %s", formats.ErrBusy, p.home.secrets.Clean(out[1])), Hint: "stop the program that runs it, or wait until its lease ends, and try again"}
		case "layout":
			return p.home.foreign("layout " + out[1])
		case "foreign":
			return p.home.foreign(out[1])
		case "lost":
			return errLost
		}
	}
	return errors.New("too many backups")
}

// settle finds out whether a rename was done whose answer was lost.
func (p *placing) settle(ctx context.Context, err error) error {
	var reply redis.Error
	if errors.As(err, &reply) && !redis.HasErrorPrefix(err, "LOADING") {
		return err // the script failed before it changed anything
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	for ; ; time.Sleep(200 * time.Millisecond) {
		// Without the lock, a rename that is still on its way does nothing.
		if p.c.Eval(ctx, release, []string{p.locked()}, p.token).Err() == nil {
			placed, e := p.c.HGet(ctx, p.live()+"rehome", "placed").Result()
			n, e2 := p.c.Exists(ctx, p.bak()+"meta").Result()
			if placed == p.token && e == nil && e2 == nil {
				if n > 0 {
					p.placed.Backup = p.home.store + "~bak-" + strconv.Itoa(p.backup)
				}
				return nil
			}
			if (e == nil || errors.Is(e, redis.Nil)) && e2 == nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return &formats.Error{At: p.home.name, Err: p.home.secrets.Error(fmt.Errorf("the connection ended while the store was placed: %w", err)),
				Hint: "look whether the store is there before you try again"}
		}
	}
}
