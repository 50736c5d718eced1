# make alone lists the targets.
SHELL := /bin/sh
PHP ?= php
EXTENSION := target/release/libtoken_bucket.so

.PHONY: help build install uninstall package try-install demo test lint bench valgrind clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

build: ## build the extension, installing what is missing
	@scripts/packages.sh build
	@PHP="$$(command -v $(PHP))" cargo build --release --locked --quiet
	@echo "Built $(EXTENSION)"

install: build ## copy it into PHP's extension folder and enable it
	@scripts/install.sh

uninstall: ## disable it and remove it
	@scripts/uninstall.sh

package: ## make the prebuilt archive, in dist/
	@scripts/packages.sh package
	@scripts/package.sh

try-install: package ## try every way to install, in fresh Debian systems (root; takes minutes)
	@scripts/packages.sh try-install
	@scripts/try-install.sh

demo: build ## see a login page limited under a real php-fpm
	@scripts/packages.sh demo
	@scripts/demo.sh

test: ## run everything there is
	@scripts/packages.sh test
	@scripts/test.sh

lint: ## formatting, clippy, layers, dependencies
	@scripts/packages.sh build
	@scripts/lint.sh

bench: build ## measure against what PHP users have today
	@scripts/packages.sh bench
	@scripts/bench.sh

# What forks, floods or starts php-fpm is left out: valgrind runs it for minutes and sees nothing new.
valgrind: build ## the phpt suite under valgrind
	@scripts/packages.sh test
	@scripts/servers.sh scripts/phpt.sh -m php-tests/01_class php-tests/03_ini php-tests/04_errors php-tests/05_reflection \
		php-tests/02_storages/contract.phpt php-tests/02_storages/test_clock.phpt php-tests/02_storages/vectors.phpt php-tests/02_storages/php_storage.phpt php-tests/02_storages/php_storage_error.phpt

clean: ## remove what was built
	@cargo clean --quiet
	@rm -rf dist
	@find php-tests -type f \( -name '*.diff' -o -name '*.exp' -o -name '*.log' -o -name '*.out' \
		-o -name '*.sh' -o -name '*.mem' -o -name '*.php' \) -delete
