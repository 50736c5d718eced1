--TEST--
php-fpm: a bad token_bucket.storage of one site or request does not affect other sites; a pool's good one overrides scripts
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

const SCRIPT = <<<'CODE'
    <?php
    try {
        echo json_encode((new TokenBucket(null, 'k', 50, 1))->consume());
    } catch (TokenBucket\ConfigurationException $e) {
        echo 'none (', preg_match('/"(\w+):"/', $e->getMessage(), $found) ? $found[1] : $e->getMessage(), ')';
    }
    echo ' ', ini_get('token_bucket.storage');
    CODE;

/** One worker, asked for the scripts in turn. */
function ask(string $what, array $pool, array $ini, array $requests): void
{
    $fpm = new Fpm(['www' => ['pm.max_children' => '1', 'php_admin_flag[display_errors]' => 'off'] + $pool], ['user_ini.filename' => '.user.ini'] + $ini);
    foreach (['bad', 'good'] as $site) {
        mkdir("$fpm->folder/$site");
        chmod("$fpm->folder/$site", 0755);
        $fpm->script("$site/page.php", SCRIPT);
        $fpm->script("$site/set.php", '<?php ini_set("token_bucket.storage", "array:"); ' . substr(SCRIPT, 5));
    }
    $fpm->script('bad/.user.ini', "token_bucket.storage = \"reddis:\"\n");
    echo "$what\n";
    foreach ($requests as $request) {
        [$script, $value] = explode(' ', "$request ");
        $params = ['DOCUMENT_ROOT' => "$fpm->folder/" . dirname($script)] + ($value === '' ? [] : ['PHP_VALUE' => "token_bucket.storage=\"$value\""]);
        echo "  $request: ", $fpm->request('www', "$script.php", params: $params)->body, "\n";
    }
    $fpm->stop();
}

$sites = ['bad/page', 'good/page', 'bad/page', 'good/page', 'good/set', 'good/page'];
ask('nothing set', [], [], $sites);
ask('set by the pool', ['php_value[token_bucket.storage]' => 'shm:pool'], [], $sites);
ask('set for good by the pool', ['php_admin_value[token_bucket.storage]' => 'shm:pool'], [], ['bad/page', 'good/page']);
ask('bad in php.ini, good in the pool', ['php_value[token_bucket.storage]' => 'shm:pool'], ['token_bucket.storage' => '"redos:"'], $sites);
ask('bad in php.ini', [], ['token_bucket.storage' => '"redos:"'], ['good/page', 'good/set', 'good/page']);
ask('bad in a request', [], [], ['good/page nowhere:', 'good/page shm:site']);
?>
--EXPECT--
nothing set
  bad/page: none (reddis) shm:
  good/page: true shm:
  bad/page: none (reddis) shm:
  good/page: true shm:
  good/set: true array:
  good/page: true shm:
set by the pool
  bad/page: none (reddis) shm:pool
  good/page: true shm:pool
  bad/page: none (reddis) shm:pool
  good/page: true shm:pool
  good/set: true array:
  good/page: true shm:pool
set for good by the pool
  bad/page: true shm:pool
  good/page: true shm:pool
bad in php.ini, good in the pool
  bad/page: none (reddis) shm:pool
  good/page: true shm:pool
  bad/page: none (reddis) shm:pool
  good/page: true shm:pool
  good/set: true array:
  good/page: true shm:pool
bad in php.ini
  good/page: none (redos) shm:
  good/set: true array:
  good/page: none (redos) shm:
bad in a request
  good/page nowhere:: none (nowhere) shm:
  good/page shm:site: true shm:site
