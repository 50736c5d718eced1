--TEST--
Exceptions: a DSN, which may hold a password, is in no message, trace or dump
--FILE--
<?php
foreach ([
    fn () => new TokenBucket('redis://user:hunter2@host', 'x'),
    fn () => new TokenBucket('shm:?password=hunter2', 'x'),
    fn () => new TokenBucket\SharedMemoryStorage('redis://user:hunter2@host'),
    fn () => new TokenBucket\ArrayStorage('redis://user:hunter2@host'),
] as $wrong) {
    try {
        $wrong();
    } catch (TokenBucket\ConfigurationException $e) {
        echo $e->getMessage(), "\n";
        ob_start();
        print_r($e->getTrace());
        echo $e, $e->getTraceAsString();
        var_dump(str_contains(ob_get_clean(), 'hunter2'));
    }
}
?>
--EXPECT--
Unknown scheme "redis:" in the storage DSN, known are shm:, array:
bool(false)
Unknown parameter "password" in the storage DSN, known are: prefix
bool(false)
Unknown scheme "redis:" in the storage DSN, known are shm:, array:
bool(false)
Unknown scheme "redis:" in the storage DSN, known are shm:, array:
bool(false)
