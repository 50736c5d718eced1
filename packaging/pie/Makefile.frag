# cargo's folder is in build/, so that phpize --clean removes it.
token_bucket_target = $(builddir)/build/cargo

# With prerequisites, so that make install, which often runs as another user, does not build. The Makefile is one of
# them: it is new after configuring for another PHP. cargo runs in the root, where it finds .cargo/config.toml.
$(phplibdir)/token_bucket.so: $(builddir)/Makefile $(srcdir)/../../Cargo.toml $(srcdir)/../../Cargo.lock $(srcdir)/../../build.rs $(shell find $(srcdir)/../../src $(srcdir)/../../.cargo -type f)
	+cd $(srcdir)/../.. && PHP='$(PHP_EXECUTABLE)' PHP_CONFIG='$(PHP_CONFIG)' $(CARGO) build --release --locked --lib --target-dir $(token_bucket_target)
	cp $(token_bucket_target)/release/libtoken_bucket.so $@

# make test reads the module's name from here.
$(phplibdir)/token_bucket.la: $(phplibdir)/token_bucket.so
	echo "dlname='token_bucket.so'" >$@

# By default the tests of the classes, which need no servers. Each run has new tables in shared memory.
TESTS ?= $(srcdir)/../../php-tests/01_class
test: export TEST_PHP_ARGS = -d token_bucket.shm_path=$(builddir)/build/tables
test: token_bucket_tables
token_bucket_tables:
	rm -rf $(builddir)/build/tables
	mkdir -p $(builddir)/build
	mkdir -m 700 $(builddir)/build/tables

clean: token_bucket_clean
token_bucket_clean:
	rm -rf $(token_bucket_target)
.PHONY: token_bucket_tables token_bucket_clean
