# Kaiak's targets. `make demo` and `make test` are the README's two commands.

GO       ?= go
BIN      := bin
BUILD    := build
VERSION  ?= $(shell cat VERSION)
COMMIT   ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -X main.version=$(VERSION) -X main.commit=$(COMMIT)
GOLANGCI := v2.15.0
RACE     := $(if $(CI),-race)

.PHONY: all build vsix demo test race lint fuzz bench reliability generate clean

all: build

build: ## bin/kaiak
	@mkdir -p $(BIN)
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN)/kaiak ./cmd/kaiak

vsix: ## editors/vscode/dist/kaiak.vsix with the server for this platform inside
	@mkdir -p $(BUILD)
	$(GO) build -trimpath -ldflags '-s -w $(LDFLAGS)' -o $(BUILD)/vsix-server ./cmd/kaiak
	cd editors/vscode && { [ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund; } && KAIAK_BIN=$(CURDIR)/$(BUILD)/vsix-server node package.mjs

demo: build ## find, show and fix the incidents of the example project, on a copy of it
	@sh examples/demo.sh $(BIN)/kaiak

test: ## every test; in CI under the race detector
	$(GO) vet ./...
	$(GO) test $(RACE) -timeout 20m ./...

race: ## every test under the race detector
	$(MAKE) test RACE=-race

reliability: ## every crash, fault and power loss of docs/reliability.md; about half an hour
	KAIAK_RELIABILITY=full $(GO) test -count=1 -timeout 2h -v \
		-run 'EveryOperation|EverySystemCall|Killed|Histories|Exchanged|Race|Owner|Untouched|EveryByte|Drained|MalformedFrames|TwoServers|TwoBatches|ClientDies|CancelAtAnyPhase' \
		./workspace ./store ./lsp ./internal/crashtest

lint: $(BUILD)/bin/golangci-lint ## gofmt, vet and golangci-lint at its pinned version
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not gofmt-clean:"; echo "$$out"; exit 1; fi
	$(BUILD)/bin/golangci-lint run ./...

$(BUILD)/bin/golangci-lint:
	GOBIN=$(CURDIR)/$(BUILD)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)

generate: ## documents and golden files that are derived from tables
	$(GO) generate ./...

bench: build ## whole-process figures, side by side with ast-grep where it can do the same
	$(GO) run ./bench

clean:
	rm -rf $(BIN) $(BUILD)
