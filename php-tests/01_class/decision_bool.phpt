--TEST--
Decision: as a bool, also in a condition, it is isAccepted(); other casts are those of any object
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
run_apart(__FILE__);
$bucket = new TokenBucket('array:', 'x', 1, 0.001);
$accepted = $bucket->attempt();
$denied = $bucket->attempt();
var_dump($accepted ? 'yes' : 'no', $denied ? 'yes' : 'no', (bool) $accepted, (bool) $denied, !$denied, boolval($denied));
if ($bucket->attempt()) {
    echo "wrong\n";
}
var_dump($accepted && true, $denied || false, $denied xor true, $denied == false, $accepted == true, array_filter([$accepted, $denied]) === [$accepted]);
// A dry run goes on, and any other object is true.
var_dump((bool) (new TokenBucket('array:?enforce=0', 'x', 1, 0.001))->attempt(), (bool) $bucket);
foreach (['intval', 'strval'] as $cast) {
    try {
        var_dump(@$cast($denied));
    } catch (Error $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
string(3) "yes"
string(2) "no"
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
int(1)
Error: Object of class TokenBucket\Decision could not be converted to string
