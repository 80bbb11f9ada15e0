GO                ?= go
VERSION           ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GOLANGCI_VERSION  := v2.15.0
GORELEASER        := github.com/goreleaser/goreleaser/v2@v2.15.4
BENCHSTAT         := golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

# The race detector needs cgo and a C compiler. Without them the tests run and say so.
RACE              ?= $(shell test "$$($(GO) env CGO_ENABLED)" = 1 && echo -race)
TESTFLAGS         ?=
PKG               ?= ./...
# Set, a test that is skipped fails, unless its reason begins with "optional: " or with these words.
FAIL_ON_SKIP      ?=
ALLOW_SKIP        ?=
BENCH             ?= .
COUNT             ?= 6
BENCH_OUT         ?= bin/bench-$(VERSION).txt
FUZZTIME          ?= 10s
RUNS              ?= 300
DURATION          ?= 10m
LIBRARIES         ?=
SEED              ?= $(shell date +%Y%m%d)
TIMEOUT           ?= 25m
# What runs in parallel waits most of its time for leases to end on real servers.
WIDE              ?= 16

.PHONY: help build compile test test-fast explored discover nightly lint lists docs docs-check choosing-measured track-record bench bench-check bench-compare soak differential fuzz cover tidy-check examples examples-oldest libraries libraries-trixie release-check release-dry-run clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

build: ## Build bin/lockbench
	$(GO) build -buildvcs=false -ldflags '-X main.version=$(VERSION)' -o bin/lockbench ./cmd/lockbench

# The race detector makes everything five to ten times slower, so it watches what runs at once, and of many runs a choice:
# tests that play hundreds of runs, and packages in which nothing runs at once, go without it. At night nothing does (UNRACED= ALONE=).
UNRACED := ^(TestMutants|TestHarnessFaults|TestTwoBackendsOneVerdict|TestMergedIsWhole|TestRWHashFollowsItsModel|TestBackgroundReplays|TestCatalogue|TestCatalogueOnProcesses|TestWorkloads|TestSimulatedCrashes|TestRenamedLocks|TestRenamedLocksAtTheGate|TestCommandsOfRandomLoad|TestRandomFaults|TestRandomRuns|TestContendWithoutFaults|TestSnapshotsChangeNothing|TestSuccessionsInVirtualTime|TestNetworkFaultsReplay|TestSameSeedSameBytes|TestAllFaultsTogether|TestFailFast|TestFailFastKnowsWhatIsExpected|TestRenewalsGetLost|TestWrongClocks|TestScripts|TestProcessScripts|TestBombs|TestWhatIsWrittenFits|TestSchemasWant|TestSameSeedSamePage|TestVariants|TestCommandsRunAsPrinted|TestCommandsOfPages|TestOneDeviation|TestCatalogueInFairWeather|TestShards|TestResume|TestFaultyReference|TestSwappedEdges|TestShrinkHeedsTheReference|TestDrawn|TestFoundSchedules|TestFoundSchedulesAreLeast|TestMarginsAreMargins|TestMarginsTable|TestStrangers|TestOverviewOfParts|TestSwarmReplays|TestAnomalies|TestWithoutDeviation|TestProvenFirst|TestDocsTellCommandsThatParse|TestCourseCommandsRun|TestCourseIsTrue|TestCommandsOfWorkersRunAsPrinted|TestPagesOfHostileStrings|TestMergeRefuses|TestCallsBounded|TestExploreAndReplay|TestFlags|TestAccept|TestAcquireWaitLoad|TestCatalogueWithWorkers|TestExternalLeavesNothing|TestLockThatWaitsIsNotAccused|TestSoundLockPasses)$$
WITH    := ./internal/harness ./histories ./locks ./locktest ./internal/explore ./cmd/lockbench ./cmd/lockbench/internal/gate
ALONE   := /(checker|oracle|demo|peers|report|html|picture|plot|causes|certificate|certify|orders|explain|catalogue|packed|schedule|words|house|choosing|scenarios|survey)$$
ALL      = $(if $(TESTFLAGS),,$(filter ./...,$(PKG)))
# A quarter of the processor's time went to the garbage collector; tests have little garbage and end soon.
SPARING  = env GOGC=$${GOGC:-400}
GO_TEST  = $(GO) test -vet=off -count=1 -timeout $(TIMEOUT) -parallel $(WIDE) -v

# go commands beside each other compile what they share once each. The compiler, too, has little garbage.
compile: ## Compile what the lanes of make test share, with the race detector and without
	$(SPARING) $(GO) build ./...
	$(SPARING) $(GO) build $(RACE) ./...

# Packages that wait for real servers most of their time, so that the processor goes to the others.
WAITING := ./internal/harness ./internal/redis/docker ./internal/redis/process ./internal/worker
LIST     = $(GO) list ./...

# Three lanes side by side: what waits, what is raced, and behind them what stays in virtual time. Each prints whole packages; only the
# second is seen as it goes on.
# Nothing is taken from the test cache: it does not notice that redis-server was installed. make lint vets.
test: $(if $(ALL),compile) ## Run the tests and list what was skipped and why (PKG=./internal/wire TESTFLAGS='-run X' FAIL_ON_SKIP=1)
	@{ worst=0; lanes=; \
		if [ -n '$(and $(ALL),$(UNRACED),$(ALONE))' ]; then \
			out=$$(mktemp -d) && trap 'kill $$lanes 2>/dev/null; rm -rf "$$out"' EXIT; \
			$(SPARING) $(GO_TEST) $(RACE) -skip '$(UNRACED)' $(WAITING) >"$$out/waiting" & lanes="$$!"; \
			{ $(SPARING) nice -n 10 $(GO_TEST) $$($(LIST) | grep -E '$(ALONE)'); alone=$$?; \
				$(SPARING) $(GO_TEST) -run '$(UNRACED)' $(WITH) && exit $$alone; } >"$$out/virtual" & lanes="$$lanes $$!"; \
			$(SPARING) $(GO_TEST) $(RACE) -skip '$(UNRACED)' $$($(LIST) | grep -vE '$(ALONE)' | grep -vE '/($(subst $(eval ) ,|,$(WAITING:./%=%)))$$') || worst=$$?; \
			for lane in $$lanes; do wait $$lane || worst=$$?; done; cat "$$out"/*; \
		else $(SPARING) $(GO_TEST) $(RACE) $(TESTFLAGS) $(PKG) || worst=$$?; fi; \
		echo "go test exited $$worst"; } | \
		awk -v race='$(RACE)' -v fail_on_skip='$(FAIL_ON_SKIP)' -v allow_skip='$(ALLOW_SKIP)' -f internal/testkit/effort/summary.awk

test-fast: ## Run what stays in virtual time and needs nothing installed (PKG=./internal/wire)
	$(SPARING) $(GO) test -short -vet=off $(TESTFLAGS) $(PKG)

explored: ## Search for the broken locks of the catalogue again, and write docs/explored.md and the schedules that are found
	$(GO) test -vet=off -timeout 60m -run '^Test(CatalogueFound|PitfallsShown)$$' ./internal/explore -update

# 600 runs for each lock at most, which takes half an hour. Rows are written one by one; LOCKBENCH_LOCKS='getset redsync' looks at these alone.
discover: ## Put the broken locks of the catalogue under random load from seed 1 on, and write docs/discovered.md
	GOMAXPROCS=1 GOGC=400 $(GO) test -vet=off -timeout 90m -v -run '^TestDiscover$$' ./internal/peers -update

# All of the catalogue on all backends, with more seeds, and every lock under every pitfall
# in virtual time and on real servers.
nightly: build ## Play everything that can be played, for hours: all seeds, all workers, all backends
	$(GO) vet ./...
	LOCKBENCH_NIGHTLY=1 $(MAKE) test TIMEOUT=3h UNRACED= ALONE=
	bin/lockbench gate --runs 20
	bin/lockbench gate --backend process --runs 3
	$(MAKE) soak
	$(MAKE) differential
	$(MAKE) fuzz FUZZTIME=60s

# golangci-lint is compiled here, from a hundred linters of which a dozen run. Its own code is therefore not optimised, which takes a
# third of the time; what it spends its time in, go/types and x/tools, is. The compiler alone has GOGC=400: by it the linter takes 2 GB.
QUICKLY := '-gcflags=github.com/...=-N -l -dwarf=false'

# govet of golangci-lint runs all analyzers of go vet, which would go through every dependency once more. make nightly runs it, too.
lint: ## Check with gofmt and golangci-lint, go vet's analyzers among its linters, whose version is pinned
	@files=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) && \
		if [ -n "$$files" ]; then echo "not formatted, run gofmt -w on:" $$files; exit 1; fi
	@if [ "v$$(golangci-lint version --short 2>/dev/null)" = $(GOLANGCI_VERSION) ]; then \
		set -x; golangci-lint run ./...; \
	else \
		set -x; GOBIN='$(CURDIR)/bin' GOGC=400 $(GO) install $(QUICKLY) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && \
			bin/golangci-lint run ./...; \
	fi

lists: ## List every lock, fault, judge and random load that stands in a file of its own
	$(GO) test ./internal/testkit/house -run TestLists -update

docs: build ## Write docs/choosing.md, docs/locks.md, docs/nemeses.md, docs/architecture.md, docs/anomalies.md, docs/libraries.md, docs/margins.md, docs/matrix.md, the picture and the generated parts of README.md, README.zh.md, docs/report.md, docs/scenarios.md and docs/course again; tests and docs-check fail when they are not true
	$(GO) test ./internal/harness -run TestDocs -update
	$(GO) test ./internal/testkit/house -run TestArchitecture -update
	$(GO) test ./internal/explore -run TestMarginsTable -update
	$(GO) test ./internal/testkit/choosing -run 'TestChoosing|TestLocks' -update
	$(GO) test ./checker -run TestReportDefinesProperties -update
	$(GO) test ./internal/explore -run TestAnomalies -update
	$(GO) test ./internal/survey -run TestPage -update
	$(GO) test ./cmd/lockbench -run 'TestReadme|TestCourseIsTrue' -update-readme
	bin/lockbench matrix --format markdown --output docs/matrix.md

# Milliseconds differ from run to run: they are kept with their date, and nothing compares them.
choosing-measured: ## Measure the locks of docs/choosing.md on redis-server again, and write the page with the figures and their date
	$(GO) test ./internal/testkit/choosing -run TestMeasured -measure
	$(GO) test ./internal/testkit/choosing -run TestChoosing -update

# The commit must be one that has what is recorded, so that anybody can check it out.
track-record: build ## Write docs/track-record.md again, with the present commit in every row that it reproduces
	@if [ -n "$$(git status --porcelain -- . ':!docs')" ]; then \
		echo "commit your changes first: the track record names the commit that it was reproduced at"; exit 1; fi
	bin/lockbench gate --track-record docs/track-record.md --commit "$$(git rev-parse --short=12 HEAD)"

docs-check: build ## Check docs/matrix.md and docs/track-record.md against runs of the whole catalogue; make test checks the other pages
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	cp docs/track-record.md "$$dir" && \
	bin/lockbench gate --track-record "$$dir/track-record.md" && \
	{ diff -u docs/track-record.md "$$dir/track-record.md" || { echo "docs/track-record.md is not what the gate shows; run: make track-record"; exit 1; }; } && \
	bin/lockbench matrix --format markdown --output "$$dir/matrix.md" && \
	{ diff -u docs/matrix.md "$$dir/matrix.md" || { echo "docs/matrix.md is not what the runs show; run: make docs"; exit 1; }; }
	@if [ "$$(git rev-parse --is-shallow-repository 2>/dev/null)" != false ]; then \
		echo "no whole history here: the commits in docs/track-record.md are not looked for"; exit 0; fi; \
	for commit in $$(grep -o '| `[0-9a-f]\{7,40\}` |$$' docs/track-record.md | tr -d '|` ' | sort -u); do \
		git merge-base --is-ancestor "$$commit" HEAD || { echo "docs/track-record.md names $$commit, which is no commit before this one; run: make track-record"; exit 1; }; \
	done; \
	if grep -q '| – |$$' docs/track-record.md; then echo "docs/track-record.md has rows without a commit; run: make track-record"; exit 1; fi

bench: ## Run the benchmarks into bin/bench-VERSION.txt (BENCH=regexp COUNT=6 BENCH_OUT=file)
	@mkdir -p bin; \
	pkgs=$$(grep -rl '^func Benchmark' --include='*_test.go' . | xargs -r -n1 dirname | sort -u); \
	if [ -z "$$pkgs" ]; then echo "no benchmarks"; exit 1; fi; \
	{ $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $$pkgs || echo FAILED; } | tee '$(BENCH_OUT)'; \
	if [ "$$(tail -n 1 '$(BENCH_OUT)')" = FAILED ]; then exit 1; fi; \
	echo "kept in $(BENCH_OUT); compare two of them: make bench-compare OLD=before.txt NEW=$(BENCH_OUT)"

bench-check: ## Measure what it costs to judge large histories: processor time beside that of reading, and memory
	LOCKBENCH_SCALE=1 $(GO) test ./cmd/lockbench -run '^TestScale$$' -count=1 -v -timeout 1h

bench-compare: ## Compare two results of make bench (OLD=file NEW=file)
	@if [ ! -f '$(OLD)' ] || [ ! -f '$(NEW)' ]; then \
		echo "want two files written by make bench: make bench-compare OLD=before.txt NEW=after.txt"; exit 2; fi
	$(GO) run $(BENCHSTAT) '$(OLD)' '$(NEW)'

soak: ## Run random locks under all faults at once, in virtual time, and each twice (RUNS=300)
	LOCKBENCH_RANDOM_RUNS=$(RUNS) $(GO) test ./internal/harness -run "^TestRandomRuns$$" -count=1 -v -timeout 0

differential: ## Hold the checker against an enumeration of every order and instant of small histories (DURATION=10m SEED=1)
	LOCKBENCH_DURATION=$(DURATION) LOCKBENCH_SEED=$(SEED) GOGC=400 $(GO) test ./internal/oracle -run '^TestOracle$$' -count=1 -v -timeout 0

fuzz: ## Run each fuzz target for a while (FUZZTIME=10s)
	@grep -r '^func Fuzz' --include='*_test.go' . | sed 's|/[^/]*:func | |; s|(.*||' | sort | \
	while read -r dir target; do \
		echo "$$dir $$target"; \
		$(GO) -C "$$dir" test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x </dev/null || exit 1; \
	done

cover: ## Measure the test coverage of each function into bin/cover.out
	@mkdir -p bin
	$(GO) test -count=1 -coverpkg=./... -coverprofile=bin/cover.out ./...
	@$(GO) tool cover -func=bin/cover.out | tail -n 1
	@echo "line by line: go tool cover -html=bin/cover.out"

examples: ## Test examples/go, a module of its own that tests locks by locktest
	cd examples/go && $(GO) vet ./... && $(GO) test -vet=off -count=1 ./... && $(GO) mod tidy -diff

# A library may pin an old version of its client: oldest.mod is go.mod with the oldest that locktest works with. What go.mod
# requires is copied there: cp go.mod oldest.mod, go mod edit -replace, go test -mod=mod -modfile oldest.mod.
examples-oldest: ## Test a lock by locktest with the oldest go-redis that it works with
	cd examples/go && $(GO) test -vet=off -modfile oldest.mod -count=1 -run '^TestMyLock$$' .

libraries: build ## Play real libraries, which apt-get installs, through the gate, and write their results and docs/libraries.md (LIBRARIES=regexp)
	$(GO) run ./cmd/survey --date "$$(date -u +%F)" --only '$(LIBRARIES)'

libraries-trixie: build ## The same with the versions of Debian 13, in a root of it, as root (LIBRARIES=regexp)
	$(GO) run ./cmd/survey --date "$$(date -u +%F)" --trixie --only '$(LIBRARIES)'

# -e: a test of a dependency imports a module that not every proxy has. Whether go.sum has its
# lines is therefore not asked; a line that a build wants and does not find stops the build.
tidy-check: ## Check that go.mod is what go mod tidy would write
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp go.mod go.sum "$$dir" && \
	$(GO) mod tidy -e -modfile="$$dir/go.mod" && \
	{ diff -u go.mod "$$dir/go.mod" || { echo "go.mod is not what go mod tidy writes; run: go mod tidy"; exit 1; }; }

release-check: ## Check .goreleaser.yaml by goreleaser, whose version is pinned
	$(GO) run $(GORELEASER) check

release-dry-run: ## Build what a release has into dist, and publish nothing
	$(GO) run $(GORELEASER) release --snapshot --clean --skip docker

clean: ## Remove bin, dist and man; run directories in store stay
	rm -rf bin dist man
