--TEST--
Decision: as a bool, also in a condition and in a comparison, it is isAccepted(); it is equal to nothing else; other casts are those of any object
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
// A bool in a variable, which PHP compares by another way than a literal, from either side.
$gate = function ($decision): string {
    switch ($decision) {
        case false: return 'denied';
        case true: return 'accepted';
        default: return 'neither';
    }
};
foreach ([[$accepted, true, false], [$denied, false, true]] as [$decision, $same, $other]) {
    echo $gate($decision), ' ', json_encode([
        [$decision == $same, $same == $decision, $decision != $other, $decision <=> $same, in_array($same, [$decision]), array_search($decision, [$same])],
        [$decision == $other, !($other != $decision), in_array($other, [$decision]), $decision === $same],
    ]), ' ', $decision <=> $other, ' ', $other <=> $decision, "\n";
}
// Not a decision that is missing, nor a number, a text or another decision.
[$null, $zero, $one] = [null, 0, 1];
echo json_encode([$denied == $null, $denied == $zero, $accepted == $one, $accepted == '1', $denied == [], $denied == clone (object) [], $accepted == $bucket->peek(0), $accepted == $accepted]), "\n";
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
accepted [[true,true,true,0,true,0],[false,false,false,false]] 1 -1
denied [[true,true,true,0,true,0],[false,false,false,false]] -1 1
[false,false,false,false,false,false,false,true]
bool(true)
bool(true)
int(1)
Error: Object of class TokenBucket\Decision could not be converted to string
