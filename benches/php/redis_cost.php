<?php
/*
 * Measures what a decision's parts cost the server, on this machine's Redis and on the newest Redis and Valkey of Debian testing: the
 * processor time of pipelined commands, without that of the system calls that each trip takes.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/lib/redis_server.php';

const COMMANDS = 10_000;
const IN_A_ROW = 50;

$unpack = fn (string $package): string => trim((string) shell_exec('scripts/setup/unpack.sh testing ' . escapeshellarg($package)));
$programs = [
    ['redis-server'],
    ['scripts/setup/unpacked.sh', $unpack('redis-server'), 'usr/bin/redis-server'],
    ['scripts/setup/unpacked.sh', $unpack('valkey-server'), 'usr/bin/valkey-server'],
];

$data = ['rounds' => rounds(11), 'commands' => COMMANDS, 'servers' => []];
foreach ($programs as $program) {
    $server = new RedisServer($program);
    [$cases, $pid] = [cases($server), $server->pid()];
    $measured = array_fill_keys(array_keys($cases), []);
    for ($round = 0; $round < $data['rounds']; $round++) {
        foreach (in_turn(array_keys($cases), $round) as $name) {
            $before = cpu_time($pid);
            $server->repeat($cases[$name], COMMANDS, IN_A_ROW);
            $measured[$name][] = (cpu_time($pid) - $before) / COMMANDS;
        }
    }
    $data['servers'][$server->version()] = $measured;
    $server->stop();
}
keep('redis_cost', $data);

/** What is measured: of each case the commands of one decision. */
function cases(RedisServer $server): array
{
    $value = '0123456789abc';
    $has_functions = $server->link->rawCommand('FUNCTION', 'LOAD', function_of($server)) === 'limits';
    $decision = decision($server);
    $script = fn (string $text): array => [['EVALSHA', $server->link->script('load', $text), ...array_slice($decision, 2)]];
    $server->link->set('swapped', $value);
    $cases = [
        'INCR' => [['INCR', 'counter']],
        'empty' => $script('return 1'),
        'TIME' => $script("redis.call('TIME') return 1"),
        'GET' => $script("redis.call('TIME') redis.call('GET', KEYS[1]) return 1"),
        'SET' => $script("redis.call('TIME') redis.call('GET', KEYS[1]) redis.call('SET', KEYS[1], '$value', 'EX', 100) return 1"),
        'token_bucket' => [$decision],
    ];
    if ($has_functions) {
        $cases['function'] = [['FCALL', 'decide', ...array_slice($decision, 2)]];
    }
    if ($server->link->rawCommand('SET', 'swapped', $value, 'IFEQ', $value, 'PX', '100000') === true) {
        $cases['IFEQ'] = [['TIME'], ['SET', 'swapped', $value, 'IFEQ', $value, 'PX', '100000']];
    }
    return $cases;
}

/** The command of a decision, as the server receives it. */
function decision(RedisServer $server): array
{
    $decide = fn () => (new TokenBucket($server->dsn(), 'bench', 1_000_000, 1_000_000.0))->consume();
    $decide();
    return $server->monitored('EVALSHA', $decide);
}

/** The script of a decision as a library of one function, which is what FUNCTION LOAD takes. */
function function_of(RedisServer $server): string
{
    $server->link->script('flush');
    $text = $server->monitored('EVAL', fn () => (new TokenBucket($server->dsn(), 'bench', 1_000_000, 1_000_000.0))->consume())[1];
    return "#!lua name=limits\nredis.register_function('decide', function(KEYS, ARGV)\n$text\nend)\n";
}
