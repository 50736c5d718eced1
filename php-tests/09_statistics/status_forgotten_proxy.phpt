--TEST--
A proxy that is not named is said by status() if nearly all denials are of its address
--FILE--
<?php
$path = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/forgotten_proxy';
is_dir($path) || mkdir($path);
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$path";

function run(string $code, string $option = ''): void
{
    global $php;
    echo shell_exec("$php $option -r " . escapeshellarg($code)), "\n";
}

// Thirty visitors mistype once each, and the proxy is the one client.
$visitors = <<<'CODE'
    for ($user = 0; $user < 60; $user++) {
        $pair = TokenBucket::per(null, "login:$network user$user", 5, 300);
        $_ = (new TokenBucket\Compound(TokenBucket::per(null, "login:$network", 30, 300), $pair))->attempt();
    }
    foreach (['a', 'b', 'c'] as $client) { for ($i = 0; $i < 30; $i++) { (new TokenBucket(null, "api:$client", 1, 0.001))->consume(); } }
    echo json_encode(TokenBucket\status()['likely_mistakes']);
    CODE;
run("\$network = '10.0.0.5'; $visitors TokenBucket\\reset_statistics();");
run("\$network = '192.0.2.1'; $visitors");
foreach (['warn_of_mistakes', 'track_identifiers'] as $directive) {
    run("\$network = '10.0.0.6'; $visitors", "-d token_bucket.$directive=0");
}
?>
--EXPECT--
["100 % of the denials of the limit \"login\" are of 10.0.0.5. If that is a proxy, all its clients count as one: name it, client_address($_SERVER, ['10.0.0.5'])"]
[]
[]
[]
