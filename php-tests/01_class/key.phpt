--TEST--
TokenBucket: key(): makes a client's identifier; can be overridden
--INI--
token_bucket.warn_of_mistakes=0
--FILE--
<?php
require __DIR__ . '/../utils.inc';

class Shown extends TokenBucket
{
    public function show(string $id): string { return $this->key($id); }
}
class Own extends TokenBucket
{
    public string $seen = '';
    public mixed $result = 'own';
    protected function key(string $id): string
    {
        $this->seen .= "$id ";
        if ($this->result === 'again') { // a class may do anything
            $this->__construct('array:', 'anew', 1, 1);
        }
        if ($this->result === 'throw') {
            throw new DomainException('no key');
        }
        return $this->result;
    }
}

echo (new Shown('array:', 'login'))->show('2001:db8::1'), "\n";
echo addcslashes((new Shown('array:', 'a:b%'))->show("\xff\0"), "\0..\37\177..\377"), "\n";

// check() with an id is on the bucket of that key.
(new TokenBucket('array:', 'login'))->check('c', 1);
var_dump((new TokenBucket('array:', 'login:c', 1, 0.001))->consume());
// No two pairs make the same key.
(new TokenBucket('array:', 'a:b'))->check('c', 1);
var_dump((new TokenBucket('array:', 'a'))->check('b:c', 1));

$own = new Own('array:', 'login');
var_dump($own->check('x', 1), $own->check('y', 1), $own->seen);
var_dump((new TokenBucket('array:', 'own', 1, 0.001))->consume());
var_dump($own->check('x', 1), $own->check('z', 1));
$own->result = 'again';
var_dump($own->check('x', 5));
$own->result = 'throw';
thrown(fn () => $own->check('x', 1));
$own->result = '';
thrown(fn () => $own->check('x', 1));
$own->result = [];
thrown(fn () => $own->check('x', 1));
?>
--EXPECT--
login:2001:db8::1
a%3Ab%25:\377\000
bool(false)
bool(false)
bool(false)
bool(true)
string(4) "x y "
bool(false)
bool(true)
bool(true)
bool(false)
DomainException: no key
Error: The key() of a TokenBucket must return a string of 1 to 4096 bytes
TypeError: Own::key(): Return value must be of type string, array returned
