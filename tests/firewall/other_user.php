<?php
/* Becomes the pool's user as the command does, and waits. Usage: other_user.php USER */
define('TokenBucket\Command\CLASSES', getcwd() . '/share/command');
spl_autoload_register(static fn (string $class) => require getcwd() . '/share/command/' . strtr(substr($class, strlen('TokenBucket\\Command\\')), '\\', '/') . '.php');
use TokenBucket\Command\{Arguments, Pool};
Pool::enter(Arguments::parse(['--user', $argv[1]], Pool::options()));
echo "ready\n";
fgets(STDIN);
