dnl Lets phpize, ./configure, make and make install, and PIE which calls them, build the extension:
dnl by cargo, for the PHP whose php-config is given. The rules are in Makefile.frag.

AC_PATH_PROG([CARGO], [cargo], [], [$PATH:$HOME/.cargo/bin])
AC_MSG_CHECKING([for the version of cargo])
token_bucket_wanted=`sed -n 's/^rust-version = "\(.*\)"/\1/p' "$abs_srcdir/../../Cargo.toml"`
token_bucket_cargo=
if test -n "$CARGO"; then
  token_bucket_cargo=`"$CARGO" --version 2>/dev/null | sed 's/^cargo \([[0-9.]]*\).*/\1/'`
fi
AC_MSG_RESULT([${token_bucket_cargo:-none}])
if test -z "$token_bucket_cargo"; then
  AC_MSG_ERROR([no cargo that works; install Rust $token_bucket_wanted or newer, see https://rustup.rs])
fi
AS_VERSION_COMPARE([$token_bucket_cargo], [$token_bucket_wanted],
  [AC_MSG_ERROR([$CARGO is too old; install Rust $token_bucket_wanted or newer, see https://rustup.rs])])

dnl The build reads PHP's headers with libclang. These are the places where the crate clang-sys looks for it.
AC_MSG_CHECKING([for libclang])
token_bucket_libclang=
for token_bucket_folder in "$LIBCLANG_PATH" "`${LLVM_CONFIG_PATH:-llvm-config} --libdir 2>/dev/null`" \
    /usr/lib/llvm*/lib /usr/lib/llvm/*/lib* /usr/lib /usr/lib64 /usr/lib/*-linux-* /usr/local/lib /usr/local/llvm*/lib /opt/llvm*/lib; do
  for token_bucket_file in "$token_bucket_folder"/libclang.so* "$token_bucket_folder"/libclang-*.so*; do
    if test -z "$token_bucket_libclang" && test -f "$token_bucket_file"; then
      token_bucket_libclang=$token_bucket_file
    fi
  done
done
AC_MSG_RESULT([${token_bucket_libclang:-no}])
if test -z "$token_bucket_libclang"; then
  AC_MSG_ERROR([libclang not found. On Debian and Ubuntu: apt-get install clang libclang-dev. Where it is in a place of its own: set LIBCLANG_PATH to the folder])
fi

if test ! -x "$PHP_EXECUTABLE"; then
  AC_MSG_ERROR([$PHP_CONFIG names no php that can be run ("$PHP_EXECUTABLE"); install it, or use --with-php-config=PATH])
fi
dnl cargo runs in another folder, so the path must be absolute.
case $PHP_CONFIG in
  /*) ;;
  */*) PHP_CONFIG=`pwd`/$PHP_CONFIG ;;
  *) PHP_CONFIG=`command -v "$PHP_CONFIG"` ;;
esac

PHP_SUBST([CARGO])
PHP_SUBST([PHP_CONFIG])
PHP_ADD_BUILD_DIR([build])
PHP_ADD_MAKEFILE_FRAGMENT([$abs_srcdir/Makefile.frag], [$abs_srcdir], [$abs_builddir])
PHP_MODULES="\$(phplibdir)/token_bucket.la"
