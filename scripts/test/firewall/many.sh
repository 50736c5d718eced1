# For firewall.sh to source: more clients than the log of denials has entries.

# A PHP as the pool runs it.
php_of_pool() {
    setpriv --reuid www-data --regid www-data --clear-groups "$php" -n -d extension="$folder/token_bucket.so" -d token_bucket.shm_path="$folder/fpm" \
        -d token_bucket.limits="$folder/limits.ini" "$@"
}
# Without the clients of the other tests.
count() { elements blocked4 | grep -c '^45\.'; }
state=$folder/state/nft

# What is beyond a thousand denials a second is noted now and then, so a run finds some of them.
php_of_pool "$folder/pages/many.php" 1 10000 20 >"$folder/all"
update search --direct
first=$(count)
[ "$first" -gt 0 ] || fail "none of 10,000 clients is kept out"
php_of_pool "$folder/pages/many.php" 1 10000 20 >"$folder/all"
update search --direct
second=$(count)
[ "$second" -gt "$first" ] || fail "a second run added none to $first"
echo "  runs add up: $first, then $second"

# As after many such runs.
cp "$folder/all" "$state/last"
for run in first next; do
    began=$(now)
    update search --direct
    echo "  10,000 in the set: the $run run took $(($(now) - began)) ms"
    [ "$(count)" = 10000 ] || fail "of 10,000 clients $(count) are kept out"
done
expect 200 198.51.100.8 "another client"
php_of_pool -r 'for ($n = 1; $n <= 4_000; $n++) { TokenBucket\limiter("search", long2ip(ip2long("45.0.0.0") + $n))->reset(); }'
update search --direct
[ "$(count)" = 6000 ] || fail "of 6,000 clients $(count) are kept out"
echo "  4,000 blocks were lifted: 6,000 are left"
