# make alone lists the targets.
SHELL := /bin/sh
MINUTES ?= 10
SECONDS ?= 30

.PHONY: help build install uninstall demo test check test-quick test-integrations lint bench matrix sanitize mutants fuzz histories planted-faults planted-lua soak package release-check try-install clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p; s/^#: /\n/p' $(MAKEFILE_LIST) | expand -t 19

build: ## build the extension, installing what is missing
	@scripts/setup/packages.sh build
	@scripts/build.sh
	@echo "Built target/release/libtoken_bucket.so"

test-quick: ## the tests that need no server, for the edit loop: ten minutes the first time, then one or two
	@scripts/setup/packages.sh build
	@scripts/test-quick.sh

test: ## run every test
	@scripts/setup/packages.sh test
	@scripts/setup/packages.sh integrations
	@scripts/test.sh

lint: ## formatting, clippy, floors, documents, dependencies, PHP
	@scripts/setup/packages.sh build
	@scripts/lint.sh

demo: build ## see a login page limited under a real php-fpm
	@scripts/setup/packages.sh demo
	@scripts/demo.sh

install: build ## copy it into PHP's extension folder and enable it
	@scripts/install.sh

uninstall: ## disable it and remove it
	@scripts/uninstall.sh

test-integrations: build ## test the packages in integrations/: ONLY=psr15 for one, FORKY=1 on Debian testing, too
	@ONLY="$(ONLY)" FORKY="$(FORKY)" scripts/test-integrations.sh

clean: ## remove what was built
	@cargo clean --quiet
	@rm -rf dist
	@find php-tests -type f \( -name '*.diff' -o -name '*.exp' -o -name '*.log' -o -name '*.out' \
		-o -name '*.sh' -o -name '*.mem' -o -name '*.php' \) -delete

#: Long runs, other systems, packages:

check: ## short runs of the long checks: sanitizers, fuzzing, soak
	@scripts/setup/packages.sh test
	@scripts/check.sh

bench: build ## measure against the limiters that PHP users have today, and write docs/benchmarks.md
	@scripts/setup/packages.sh bench
	@scripts/bench.sh

matrix: ## test on other PHPs and servers: Debian 13's, testing's and experimental's, debug builds, threads, event loops, FrankenPHP, RoadRunner, two versions at once; ONLY=zts,threads for some
	@scripts/setup/packages.sh matrix
	@scripts/matrix.sh

sanitize: build ## memory under valgrind, AddressSanitizer and Miri, and a million of each call, object and exception
	@scripts/setup/packages.sh sanitize
	@scripts/sanitize.sh

mutants: ## change the code in one place at a time and see whether a test notices: hours
	@scripts/setup/packages.sh test
	@scripts/mutants.sh

fuzz: ## fuzz the parsers, the files and the operations: SECONDS=30 for each target
	@scripts/setup/packages.sh fuzz
	@scripts/fuzz.sh $(SECONDS)

histories: build ## record calls while processes and servers fail, and search an order that explains them: MINUTES=10
	@scripts/setup/packages.sh histories
	@MINUTES="$(MINUTES)" scripts/histories.sh

planted-faults: ## put a fault into the extension on purpose, one after the other, and let the histories find it
	@scripts/setup/packages.sh histories
	@scripts/planted-faults.sh

planted-lua: ## put a fault into Redis's scripts on purpose, one after the other, and see that the tests notice it
	@scripts/setup/packages.sh test
	@scripts/planted-lua.sh

soak: build ## attack every store while servers and workers fail: MINUTES=10, SEED= repeats a run
	@scripts/setup/packages.sh test
	@MINUTES="$(MINUTES)" SEED="$(SEED)" scripts/soak.sh

package: ## make the archive of a release and a Debian package, in dist/
	@scripts/setup/packages.sh package
	@scripts/setup/release-tools.sh
	@packaging/package.sh

release-check: ## make the packages of the last commit in two folders and compare them byte for byte
	@scripts/setup/packages.sh package
	@scripts/setup/release-tools.sh
	@packaging/check-reproducible.sh

try-install: package ## try every way to install in fresh Debian systems, as root
	@scripts/setup/packages.sh try-install
	@packaging/try-install.sh
