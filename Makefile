# Everything here needs only Go; `make test` needs nothing else at all.

GO       ?= go
FUZZTIME ?= 30s
STATIC   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
TARGETS  := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# "./..." passes testdata by, where Go programs stand too.
PACKAGES := ./... $(patsubst %/,./%,$(sort $(dir $(wildcard testdata/*/*.go))))

export CGO_ENABLED = 0

.PHONY: help build test check format vet lint cross interop proof rules notice bench golden golden-same fuzz cover clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/rehome
	$(GO) build -trimpath -o bin/ ./cmd/rehome

test: ## run all tests
	$(GO) test ./...

check: format vet lint test golden-same cross ## all that must hold before a commit

format:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet $(PACKAGES)

lint:
	$(GO) run $(STATIC) $(PACKAGES)

# The tests compare with the expected results; writing them anew must change
# nothing either, or some of them are never compared.
golden-same:
	@changed=$$($(MAKE) --no-print-directory golden); \
	if [ -n "$$changed" ]; then echo "$$changed"; echo "read the difference"; exit 1; fi

cross:
	@for target in $(TARGETS); do \
		echo "build $$target"; \
		GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build ./... || exit 1; \
	done

interop: ## let the real clients open and resume what rehome wrote (needs node and npm)
	@testdata/interop/run

# A module of its own, with gitleaks in it: "./..." passes it by.
GITLEAKS := convert/internal/leaks/upstream

proof: ## the nightly checks: are the rules for secrets those of gitleaks' latest release (needs a module proxy)
	cd $(GITLEAKS) && $(GO) vet . && $(GO) run $(STATIC) . && $(GO) test -count=1 .

rules: ## update the rules for secrets to gitleaks' latest release (needs a module proxy)
	cd $(GITLEAKS) && $(GO) get github.com/zricethezav/gitleaks/v8@latest && $(GO) mod tidy && $(GO) test -update .

notice: ## list the licenses of everything that is linked, in NOTICE
	$(GO) test -count=1 ./cmd/rehome -run '^TestNotice$$' -update

bench: ## measure against the scripts a user would write (needs python3 and sqlite3)
	$(GO) run ./testdata/bench

golden: ## rewrite the expected results, and list what changed
	@grep -rl '"rehome/golden"' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		$(GO) test -count=1 -v "$$dir" -update | grep -E 'golden: |^--- FAIL|^FAIL' || true; \
	done

fuzz: ## run every fuzz target for FUZZTIME (30s)
	@grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go | cut -c6-); do \
			echo "fuzz $$dir $$target"; \
			$(GO) test "$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x || exit 1; \
		done || exit 1; \
	done

cover: ## measure what the tests reach
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1

clean: ## remove what was built
	rm -rf bin cover.out
