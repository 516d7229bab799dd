# Everything here needs only Go unless it says otherwise.

GO       ?= go
FUZZTIME ?= 30s
STATIC   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
LINTERS  := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
ACTIONS  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
RELEASER ?= $(GO) run github.com/goreleaser/goreleaser/v2@v2.16.0
TARGETS  := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# "./..." skips testdata, where Go programs are too, and the module of rehome-fleet.
MODULES  := ./... ./cmd/rehome-fleet/...
PACKAGES := $(MODULES) $(patsubst %/,./%,$(sort $(dir $(wildcard testdata/*/*.go testdata/*/*/*.go))))

# Packages whose tests start goroutines, those first that take longest: the others are done beside
# them. What reads the pages of a database is in sqlitefile; tests of sqlitedelta start it.
LONGEST    = ./cmd/internal/cli ./cmd/internal/cli/gittest ./convert/check
CONCURRENT = $(LONGEST) $(filter-out $(LONGEST),$(shell (echo formats/internal/sqlitedelta/. && grep -rlE '^[[:space:]]*go [a-z]|[.]Go\>' --include='*.go' --exclude='*_test.go' --exclude=snapshot_pages.go cmd convert formats internal schemas) | xargs -n1 dirname | sort -u | sed 's|^|./|'))

# SQLite comes from C and has locks of its own. To watch it takes most of the time, and tells nothing of ours.
FOREIGN = $(foreach package,modernc.org/sqlite/lib modernc.org/libc,-gcflags=$(package)=-race=false)

# Tests that start programs, kill or trace them, which the race detector does not watch, and those
# of one goroutine that would take it minutes. All others are watched, new ones, too.
UNWATCHED = NoSockets Hostile FullDisk FewFiles FileSizeLimit Finish Screens Week GitSetup GitAgents ShownCommands ShowMemory \
	TextconvDiffers PageDiffers PageVectors RedactPlanted RedactedSessions MovedLaw MovedMeansMoved Words Faults MvInUse
SKIP = Killed|OnFullDisk$$|^Test($(subst $() ,|,$(strip $(UNWATCHED))))$$

export CGO_ENABLED = 0

# One build for all: what tests compile is what a release compiles, and does not depend on the folder.
export GOFLAGS := $(strip -trimpath $(GOFLAGS))

# Vetting is part of static, and without tables for a debugger a test is linked in half the time.
# Garbage is collected as seldom as the program does it, which takes an eighth less time.
TEST = env GOGC=400 $(GO) test -vet=off -ldflags='-s -w'

# Tests write thousands of small stores and wait until each is on the disk: in memory, where there
# is room and programs may run, that takes half the time. "make proof" tests on the disk.
MEMORY := $(if $(TMPDIR),,$(shell findmnt -nb -o AVAIL,OPTIONS /dev/shm 2>/dev/null | awk '$$1 > 4e9 && !/noexec/ { print "TMPDIR=/dev/shm"; exit }'))

.PHONY: help build test check mutants format vet lint cross cross-build static cost race interop services survival proof fuzz cover bench golden picture rules notice \
	dist release-files changelog home clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Without go.work, so that what is linked is what go.mod says.
build: ## build bin/rehome
	GOWORK=off $(GO) build -o bin/ ./cmd/rehome

test: ## run all tests; those that kill, cut, flip or generate take an eighth of their cases, and all in make proof
	$(MEMORY) $(TEST) -short -timeout 20m $(MODULES)

check: static test mutants ## run everything that must pass before a commit

static: format vet lint cross cost ## check what needs no test to run

# The commit chooses which, so that each tries others.
SEED = $$(printf %d 0x$$(git rev-parse --short=7 HEAD))

mutants: ## make 20 mistakes in codecs, which the laws must find
	$(MEMORY) $(GO) run ./testdata/mutants -codecs -judged -seed $(SEED) -n 20 -least 97

# With F=name it builds and tests one format alone.
ifdef F
format:
	$(TEST) -short ./formats/formatstest -run '^(TestCodecs|TestWriters)$$/^$(F)$$|^TestLeavesLimits$$'
	$(TEST) -short ./formats/all -run '^(TestLines|TestOrder|TestOrderRules)$$/^$(F)$$'
	$(TEST) -short ./convert/doctor -run '^TestDrift$$/^$(F)$$'
	$(TEST) -short ./convert/check -run '^TestFaults$$/^$(F)$$'
else
format:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
endif

vet:
	$(GO) vet -tags services $(PACKAGES)

# With all that staticcheck finds: see .golangci.yaml.
lint:
	$(GO) run $(LINTERS) run --build-tags services $(PACKAGES)
	$(GO) run $(ACTIONS)

# From source, without a compiler: SQLite takes it minutes for each target.
cross:
	$(GO) run ./testdata/cross $(TARGETS)

cross-build:
	@for target in $(TARGETS); do \
		echo "build $$target"; \
		GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build $(MODULES) || exit 1; \
	done

race: ## run the race detector over every package that starts goroutines (needs a C compiler)
	@for name in $(UNWATCHED); do grep -rq "^func Test$$name(" --include='*_test.go' $(CONCURRENT) || { echo "there is no Test$$name"; exit 1; }; done
	@echo 'without tests named $(SKIP): they start programs, or one goroutine'
	$(MEMORY) CGO_ENABLED=1 GORACE=atexit_sleep_ms=10 $(TEST) -race $(FOREIGN) -short -timeout 25m -skip '$(SKIP)' $(CONCURRENT)

interop: ## let the real clients open and resume what rehome wrote (needs node and npm)
	@$(MEMORY) testdata/interop/run

# A module of its own, with gitleaks in it: "./..." skips it, and so does go.work.
GITLEAKS := convert/internal/leaks/upstream

# One package after another, each with servers of its own: some of the tests kill them.
SERVICES = $(sort $(shell grep -rlE '^//go:build services' --include='*_test.go' cmd testdata/services | xargs -n1 dirname))

services: ## test against PostgreSQL, Redis, S3 and Slurm, from packages (needs Debian or Ubuntu, and node)
	@for dir in $(SERVICES); do \
		tests=$$(grep -lE '^//go:build services' $$dir/*_test.go | xargs grep -hoE '^func Test[A-Za-z0-9_]+' | cut -c6- | paste -sd'|'); \
		testdata/services/run -for $$dir -- $(TEST) -count=1 -tags services -run "^($$tests)$$" ./$$dir || exit 1; \
	done
	@testdata/services/run -only postgres,redis -- testdata/interop/run adapter
	@testdata/services/run -only postgres,redis,s3 -- testdata/interop/run session-store

survival: ## let the real clients resume 300 generated sessions, and write docs/survival.md (needs node and npm)
	REHOME_INTEROP_SESSIONS=15 REHOME_INTEROP_SDK_SESSIONS=57 testdata/interop/run survival

# Of all mistakes less than two thirds are found: the number below only rises.
proof: cross-build ## run what takes hours: every case of each test, builds for all targets, upstream's rules, 300 mistakes in codecs, a new address, 300 sessions resumed, busy stores, fuzzing (needs npm)
	cd $(GITLEAKS) && export GOWORK=off && $(GO) vet . && $(GO) run $(STATIC) . && $(GO) test -count=1 .
	$(TEST) -count=1 -timeout 60m $(MODULES)
	$(GO) run ./testdata/mutants -codecs -seed $(SEED) -n 300 -least 50
	$(GO) test -count=1 -timeout 30m ./testdata/home
	$(GO) run ./testdata/busy
	REHOME_INTEROP_SESSIONS=45 $(MAKE) interop
	$(MAKE) survival
	$(MAKE) fuzz FUZZTIME=10m

fuzz: ## run every fuzz target for FUZZTIME (30s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go | cut -c6-); do \
			echo "fuzz $$dir $$target"; \
			$(GO) test "$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x || exit 1; \
		done || exit 1; \
	done

cover: ## compare what the tests reach with the floor in .ci/coverage; UPDATE=-update raises it
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	@$(GO) run ./testdata/coverage $(UPDATE) cover.out .ci/coverage

cost: ## compare how many statements run in a dozen jobs with testdata/cost/steps.txt; UPDATE=-update writes them
	@$(GO) run ./testdata/cost $(UPDATE)

bench: ## measure against the scripts a user would write (needs python3 and sqlite3)
	$(GO) run ./testdata/bench

# Long tests that compare nothing with a file.
UNWRITTEN = Killed|^TestFinish|^TestRandom|^TestSessionCuts$$|^TestCallsSurvive$$|^TestOddities$$|^TestRedactPlanted$$

# More is used of the package golden than the constant Race.
golden: ## rewrite the expected results, and list what changed
	@grep -rlE 'golden[.]([A-QS-Z]|R[b-z])' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		$(GO) test -count=1 -v -skip '$(UNWRITTEN)' "$$dir" -update | grep -E 'golden: |^--- FAIL|^FAIL' || true; \
	done

picture: ## draw the README's pictures, docs/demo.svg and docs/diff.svg, from real runs
	$(GO) test -count=1 ./cmd/internal/cli -run 'Picture$$' -update

rules: ## update the rules for secrets to gitleaks' latest release (needs a module proxy)
	cd $(GITLEAKS) && export GOWORK=off && $(GO) get github.com/zricethezav/gitleaks/v8@latest && $(GO) mod tidy && $(GO) test -update .

notice: ## list the licenses of everything that is linked, in NOTICE
	$(GO) test -count=1 ./cmd/rehome ./cmd/rehome-fleet -run '^TestNotice$$' -update

# A tag names the version; without one this is a rehearsal.
TAG     = $(shell git describe --tags --exact-match --match 'v*' 2>/dev/null)
VERSION ?= $(if $(TAG),$(TAG:v%=%),0.1.0-rehearsal)
EPOCH   = $(shell git log -1 --format=%ct)
SHA256  = $(shell command -v sha256sum || echo shasum -a 256)

dist: ## build everything a release publishes into dist/, and publish nothing (needs npm)
	VERSION=$(VERSION) $(RELEASER) release --clean $(if $(TAG),,--snapshot)
	$(GO) run ./testdata/dist/npm -version $(VERSION)
	$(GO) run ./testdata/dist/image -version $(VERSION) -epoch $(EPOCH) -out dist/rehome_$(VERSION)_image.oci.tar \
		amd64=$$(echo dist/rehome_linux_amd64_*/rehome) arm64=$$(echo dist/rehome_linux_arm64_*/rehome)
	@cd dist && $(SHA256) *.tar.gz *.zip *.deb *.rpm *.apk *.cdx.json *.oci.tar npm/*.tgz > checksums.txt && cat checksums.txt

release-files: # the man page and the completions, for the packages
	@rm -rf bin/release && mkdir -p bin/release/completions
	@GOWORK=off $(GO) build -trimpath -o bin/release/rehome ./cmd/rehome
	@bin/release/rehome man | gzip -9n > bin/release/rehome.1.gz
	@bin/release/rehome completion bash > bin/release/completions/rehome.bash
	@bin/release/rehome completion zsh > bin/release/completions/_rehome
	@bin/release/rehome completion fish > bin/release/completions/rehome.fish

changelog: ## gather .changes into CHANGELOG.md; VERSION=0.1.0
	$(GO) run ./testdata/changelog -version $(VERSION) -date $$(date +%Y-%m-%d)

home: ## give the project its public address; REPO=host/owner/name
	$(GO) run ./testdata/home -repo $(REPO)

clean: ## remove what was built
	rm -rf bin dist cover.out
