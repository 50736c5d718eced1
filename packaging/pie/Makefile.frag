# cargo's folder is in build/, so that phpize --clean removes it.
token_bucket_target = $(builddir)/build/cargo

# A file with prerequisites, so that make install, which often runs as another user, builds nothing.
# The Makefile is one of them, for it is new where another PHP was configured.
# In the sources' own folder, for that is where cargo looks for .cargo/config.toml.
$(phplibdir)/token_bucket.so: $(builddir)/Makefile $(srcdir)/../../Cargo.toml $(srcdir)/../../Cargo.lock $(srcdir)/../../build.rs $(shell find $(srcdir)/../../src $(srcdir)/../../.cargo -type f)
	+cd $(srcdir)/../.. && PHP='$(PHP_EXECUTABLE)' PHP_CONFIG='$(PHP_CONFIG)' $(CARGO) build --release --locked --lib --target-dir $(token_bucket_target)
	cp $(token_bucket_target)/release/libtoken_bucket.so $@

# make test reads the module's name from here.
$(phplibdir)/token_bucket.la: $(phplibdir)/token_bucket.so
	echo "dlname='token_bucket.so'" >$@

# Those of the classes, which need no servers, unless TESTS names some; with tables that no earlier run has used.
TESTS ?= $(srcdir)/../../php-tests/01_class
test: export TEST_PHP_ARGS = -d token_bucket.shm_path=$(builddir)/build/tables
test: token_bucket_tables
token_bucket_tables:
	rm -rf $(builddir)/build/tables
	mkdir -p $(builddir)/build/tables

clean: token_bucket_clean
token_bucket_clean:
	rm -rf $(token_bucket_target)
.PHONY: token_bucket_tables token_bucket_clean
