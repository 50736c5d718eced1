# make alone lists the targets.
SHELL := /bin/sh
PHP ?= php
EXTENSION := target/release/libtoken_bucket.so

.PHONY: help build install uninstall demo test lint bench matrix sanitize fuzz soak package try-install clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

build: ## build the extension, installing what is missing
	@scripts/packages.sh build
	@PHP="$$(command -v $(PHP))" cargo build --release --locked --quiet
	@echo "Built $(EXTENSION)"

install: build ## copy it into PHP's extension folder and enable it
	@scripts/install.sh

demo: build ## see a login page limited under a real php-fpm
	@scripts/packages.sh demo
	@scripts/demo.sh

test: ## run everything there is
	@scripts/packages.sh test
	@scripts/test.sh

soak: build ## everything under attack while servers and workers fail: MINUTES=10, SEED= repeats one
	@scripts/packages.sh test
	@MINUTES="$(MINUTES)" SEED="$(SEED)" scripts/soak.sh

lint: ## formatting, clippy, layers, dependencies
	@scripts/packages.sh build
	@scripts/lint.sh

bench: build ## measure against what PHP users have today; writes docs/benchmarks.md
	@scripts/packages.sh bench
	@scripts/bench.sh

sanitize: build ## memory under valgrind, AddressSanitizer and Miri, and a million of everything
	@scripts/packages.sh sanitize
	@scripts/sanitize.sh

SECONDS ?= 30
fuzz: ## feed it what nobody foresaw, SECONDS=30 for each target
	@scripts/packages.sh fuzz
	@scripts/fuzz.sh $(SECONDS)

matrix: ## test on other PHPs: Debian 13's, debug builds, threads; ONLY=zts,threads for some
	@scripts/packages.sh matrix
	@scripts/matrix.sh

clean: ## remove what was built
	@cargo clean --quiet
	@find php-tests -type f \( -name '*.diff' -o -name '*.exp' -o -name '*.log' -o -name '*.out' \
		-o -name '*.sh' -o -name '*.mem' -o -name '*.php' \) -delete
