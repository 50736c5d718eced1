--TEST--
Storages: the legacy contract: classes with and without type declarations load
--FILE--
<?php
class Untyped implements TokenBucketStorage
{
    public function prepare() { echo "prepared\n"; }
    public function bootstrap($identifier, $microtime) { echo "$identifier $microtime\n"; }
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure) { return $bootstrap_closure(); }
}
class Typed implements TokenBucketStorage
{
    public function prepare(): void {}
    public function bootstrap(mixed $id, mixed $time, bool $more = false): static { return $this; }
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure = null): bool { return true; }
}
abstract class Partial implements TokenBucketStorage
{
    public function prepare() {}
}
$anonymous = new class extends Partial {
    public function bootstrap($identifier, $microtime) {}
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure) { return false; }
};

$untyped = new Untyped;
$untyped->prepare();
var_dump($untyped->consume('a', 1, 10, function () use ($untyped) {
    $untyped->bootstrap('a', 9.5);
    return true;
}));
var_dump((new Typed)->bootstrap('a', 1) instanceof TokenBucketStorage, $anonymous->consume(1, 2, 3, null));
foreach ((new ReflectionClass(TokenBucketStorage::class))->getMethods() as $method) {
    $typed = array_filter($method->getParameters(), fn ($parameter) => $parameter->hasType());
    echo $method->name, ' ', count($typed), ' ', (int) $method->hasReturnType(), (int) $method->hasTentativeReturnType(), "\n";
}
?>
--EXPECT--
prepared
a 9.5
bool(true)
bool(true)
bool(false)
prepare 0 00
bootstrap 0 00
consume 0 00
