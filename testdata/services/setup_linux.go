package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// setups are the servers by name. Each returns the variables that tests get.
func setups() map[string]func(dir string) ([]string, error) {
	return map[string]func(string) ([]string, error){"postgres": postgres, "redis": redis, "s3": s3, "slurm": slurm}
}

// named returns the servers whose variables occur in the files of a folder, with commas.
func named(dir string) (string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range slices.Sorted(maps.Keys(setups())) {
			if strings.Contains(string(text), "REHOME_TEST_"+strings.ToUpper(name)) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return err
	})
	return strings.Join(names, ","), err
}

func postgres(dir string) ([]string, error) {
	bin, err := found("postgresql", "postgres", "/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return nil, err
	}
	bin = filepath.Dir(bin)
	data, as, err := home(dir, "pg", "postgres")
	if err != nil {
		return nil, err
	}
	password, port := rand.Text(), freePort()
	secret := filepath.Join(data, "password")
	if err := owned(secret, password, as); err != nil {
		return nil, err
	}
	cluster := filepath.Join(data, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", cluster, "-U", "rehome", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-locale", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = data, &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	s := server{Name: "postgres", User: as, Stop: syscall.SIGINT, Ready: []string{filepath.Join(bin, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", port}}
	s.Argv = []string{filepath.Join(bin, "postgres"), "-D", cluster, "-p", port, "-k", data}
	// A killed process loses nothing without fsync; only a killed machine would.
	for _, option := range []string{"listen_addresses=127.0.0.1", "fsync=off", "dynamic_shared_memory_type=mmap", "max_connections=200"} {
		s.Argv = append(s.Argv, "-c", option)
	}
	script, err := s.begin(dir)
	return []string{
		"REHOME_TEST_POSTGRES=postgres://rehome:" + password + "@127.0.0.1:" + port + "/postgres",
		"REHOME_TEST_POSTGRES_CTL=" + script, "REHOME_TEST_PGDATA=" + cluster, "REHOME_TEST_PGBIN=" + bin,
	}, err
}

func redis(dir string) ([]string, error) {
	bin, err := found("redis-server", "redis-server")
	if err != nil {
		return nil, err
	}
	data, as, err := home(dir, "redis", "nobody")
	if err != nil {
		return nil, err
	}
	password, port, config := rand.Text(), freePort(), filepath.Join(data, "redis.conf")
	text := fmt.Sprintf("bind 127.0.0.1\nport %s\nunixsocket %s/redis.sock\nrequirepass %s\ndir %[2]s\nappendonly yes\nappendfsync always\nsave \"\"\nmaxmemory-policy noeviction\n", port, data, password)
	if err := owned(config, text, as); err != nil {
		return nil, err
	}
	s := server{Name: "redis", Argv: []string{bin, config}, User: as, Stop: syscall.SIGTERM, Env: []string{"REDISCLI_AUTH=" + password}}
	s.Ready = []string{"redis-cli", "-e", "-p", port, "ping"}
	script, err := s.begin(dir)
	return []string{"REHOME_TEST_REDIS=redis://default:" + password + "@127.0.0.1:" + port + "/0", "REHOME_TEST_REDIS_CTL=" + script}, err
}

// gateway is the S3 server: files of a folder, with conditional writes.
const gateway = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

func s3(dir string) ([]string, error) {
	bin, err := compiled(gateway)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "s3")
	for _, name := range []string{data, data + "/buckets", data + "/metadata"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			return nil, err
		}
	}
	key, secret, port := rand.Text()[:20], rand.Text(), freePort()
	s := server{Name: "s3", Stop: syscall.SIGTERM, Addr: "127.0.0.1:" + port, Env: []string{"ROOT_ACCESS_KEY=" + key, "ROOT_SECRET_KEY=" + secret}}
	s.Argv = []string{bin, "--quiet", "--port", s.Addr, "posix"}
	// Not every file system has extended attributes. Without them a server that is killed can leave
	// the tag of an object that is not there, and then says that it exists.
	if syscall.Setxattr(data, "user.rehome", []byte("1"), 0) != nil {
		s.Argv = append(s.Argv, "--sidecar", data+"/metadata")
	}
	s.Argv = append(s.Argv, data+"/buckets")
	script, err := s.begin(dir)
	return []string{
		"REHOME_TEST_S3=http://" + s.Addr, "REHOME_TEST_S3_CTL=" + script, "REHOME_TEST_S3_DIR=" + data + "/buckets",
		"AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_REGION=us-east-1",
	}, err
}

// home makes a folder for a server. Root gives it to another user; the server then runs as that.
func home(dir, name, as string) (string, *syscall.Credential, error) {
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o700); err != nil || os.Getuid() != 0 {
		return path, nil, err
	}
	u, err := user.Lookup(as)
	if err != nil {
		return "", nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	c := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return path, c, errors.Join(err1, err2, os.Chown(path, int(uid), int(gid)))
}

// owned writes a private file for the user of a server.
func owned(path, text string, as *syscall.Credential) error {
	err := os.WriteFile(path, []byte(text), 0o600)
	if err == nil && as != nil {
		err = os.Chown(path, int(as.Uid), int(as.Gid))
	}
	return err
}

// freePort returns a port that nobody listens on now.
func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "0"
	}
	defer l.Close()
	return l.Addr().String()[strings.LastIndexByte(l.Addr().String(), ':')+1:]
}
