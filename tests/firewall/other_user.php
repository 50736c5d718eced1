<?php
/* Becomes the pool's user as the command does, and waits. Usage: other_user.php USER */
use TokenBucket\Command\{Arguments, Classes, Pool};
require getcwd() . '/share/command/Classes.php';
Classes::register();
Pool::enter(Arguments::parse(['--user', $argv[1]], Pool::options()));
echo "ready\n";
fgets(STDIN);
