package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// found returns where a program is, which a package of Debian has. Root installs what is
// missing; others are told to.
func found(pkg, program string, elsewhere ...string) (string, error) {
	for try := range 2 {
		for _, pattern := range append([]string{"/usr/sbin/" + program}, elsewhere...) {
			if all, _ := filepath.Glob(pattern); len(all) > 0 {
				return all[len(all)-1], nil
			}
		}
		if bin, err := exec.LookPath(program); err == nil {
			return bin, nil
		}
		if try == 0 {
			if err := install(pkg); err != nil {
				return "", err
			}
		}
	}
	return "", fmt.Errorf("package %s is installed, but has no %s", pkg, program)
}

func install(pkg string) error {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		return fmt.Errorf("not installed\nhint: sudo apt-get install %s", pkg)
	}
	fmt.Fprintln(os.Stderr, "services: installing", pkg)
	if apt("install", pkg) == nil {
		return nil
	}
	return errors.Join(apt("update"), apt("install", pkg))
}

func apt(verb string, packages ...string) error {
	args := append([]string{verb, "-q", "-y", "--no-install-recommends"}, packages...)
	if verb == "update" {
		args = args[:2]
	}
	cmd := exec.Command("apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// compiled returns a program made by go install, which takes minutes the first time. It is
// kept in the user's cache.
func compiled(source string) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name, version, _ := strings.Cut(source, "@")
	cache := filepath.Join(caches, "rehome-services")
	bin := filepath.Join(cache, path.Base(name)+"-"+version)
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	fmt.Fprintf(os.Stderr, "services: building %s, which takes minutes\n", source)
	cmd := exec.Command("go", "install", source)
	cmd.Env = append(os.Environ(), "GOBIN="+temp, "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install %s: %w\n%s", source, err, out)
	}
	return bin, os.Rename(filepath.Join(temp, path.Base(name)), bin)
}
