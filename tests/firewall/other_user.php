<?php
/* Becomes the pool's user as the command does, and waits. Usage: other_user.php USER */
spl_autoload_register(static fn (string $class) => require getcwd() . '/share/command/' . substr($class, strlen('TokenBucket\\Command\\')) . '.php');
use TokenBucket\Command\{Arguments, Pool};
Pool::enter(Arguments::parse(['--user', $argv[1]], Pool::options()));
echo "ready\n";
fgets(STDIN);
