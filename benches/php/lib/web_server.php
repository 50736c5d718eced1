<?php
/*
 * A php-fpm behind an nginx, configured as in production: opcache on, a fixed number of workers.
 */
require_once dirname(__DIR__, 3) . '/php-tests/06_fpm/fpm.inc';

final class WebServer
{
    public const WORKERS = 2;

    public readonly int $port;
    private readonly string $folder;
    /** @var resource[] */
    private array $processes = [];
    /** @var int[] */
    public readonly array $workers;

    public function __construct(string $document_root)
    {
        $this->folder = sys_get_temp_dir() . '/token_bucket-bench.' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        chmod($this->folder, 0777);
        register_shutdown_function($this->stop(...));
        $this->port = free_port();
        // As root, the workers run as the web servers' user, which may not be able to read the source.
        mkdir("$this->folder/www");
        foreach (glob("$document_root/*.php") as $file) {
            copy($file, "$this->folder/www/" . basename($file));
        }
        copy(getenv('BENCH_EXTENSION'), "$this->folder/token_bucket.so");
        file_put_contents("$this->folder/fpm.conf", $this->fpm());
        file_put_contents("$this->folder/nginx.conf", $this->nginx());

        $fpm = $this->run(Fpm::binary(), '-n', '-F', ...(posix_geteuid() === 0 ? ['-R'] : []), ...['-y', "$this->folder/fpm.conf", ...self::extensions("$this->folder/token_bucket.so"),
            '-d', 'zend_extension=opcache', '-d', 'opcache.enable=1', '-d', 'opcache.validate_timestamps=0', '-d', 'opcache.file_update_protection=0', '-d', 'apc.enabled=1', '-d', 'error_reporting=' . (E_ALL & ~E_DEPRECATED)]);
        $this->wait_until(fn () => file_exists("$this->folder/fpm.sock"), 'php-fpm');
        $this->run('nginx', '-c', "$this->folder/nginx.conf", '-e', "$this->folder/nginx.log");
        $this->wait_until(fn () => str_contains((string) $this->get('none'), 'articles</h1>'), 'nginx');
        $this->wait_until(fn () => count($this->children($fpm)) === self::WORKERS, 'php-fpm, with its workers,');
        $this->workers = $this->children($fpm);
    }

    /** The page's answer with this limiter in front of it. */
    public function get(string $limiter): string|false
    {
        return @file_get_contents($this->url($limiter), context: stream_context_create(['http' => ['ignore_errors' => true]]));
    }

    /** The end of the servers' output and logs. */
    public function logs(): string
    {
        return substr(implode('', array_map(file_get_contents(...), ["$this->folder/output", ...glob("$this->folder/*.log")])), -1_000);
    }

    public function url(string $limiter): string
    {
        return "http://127.0.0.1:$this->port/index.php?limiter=$limiter";
    }

    /** @return string[] the options that load all that the page may need */
    public static function extensions(string ...$more): array
    {
        $options = [];
        foreach ([...['posix', 'apcu', 'ctype', 'igbinary', 'redis'], ...$more] as $extension) {
            array_push($options, '-d', "extension=$extension");
        }
        return $options;
    }

    private function run(string ...$command): int
    {
        $output = ['file', "$this->folder/output", 'a'];
        $this->processes[] = $process = proc_open(['setpriv', '--pdeathsig', 'TERM', ...$command], [['file', '/dev/null', 'r'], $output, $output], $pipes);
        return proc_get_status($process)['pid'];
    }

    private function wait_until(callable $condition, string $program): void
    {
        comes_true($condition, 10) || throw new RuntimeException("$program did not start: {$this->logs()}");
    }

    /** @return int[] */
    private function children(int $pid): array
    {
        return array_map(intval(...), preg_split('/ /', file_get_contents("/proc/$pid/task/$pid/children"), flags: PREG_SPLIT_NO_EMPTY));
    }

    private static function user(): ?string
    {
        return posix_geteuid() === 0 ? 'www-data' : null;
    }

    private function fpm(): string
    {
        $user = self::user() === null ? '' : 'user = ' . self::user();
        $servers = implode("\n", array_map(fn ($name) => "env[$name] = \"" . getenv($name) . '"', ['TB_REDIS', 'TB_REDIS_UNIX', 'TB_MEMCACHED_UNIX', 'TB_MARIADB_UNIX']));
        $workers = self::WORKERS;
        return <<<INI
            [global]
            error_log = $this->folder/fpm.log
            [www]
            $user
            listen = $this->folder/fpm.sock
            listen.mode = 0666
            pm = static
            pm.max_children = $workers
            catch_workers_output = yes
            $servers
            php_admin_value[token_bucket.shm_path] = $this->folder
            php_admin_value[token_bucket.timeout_ms] = 5000
            php_admin_value[token_bucket.connect_timeout_ms] = 5000
            php_admin_value[token_bucket.on_error] = throw
            INI;
    }

    private function nginx(): string
    {
        $user = self::user() === null ? '' : 'user ' . self::user() . ';';
        $temporary = implode("\n", array_map(fn ($kind) => "{$kind}_temp_path $this->folder/$kind;", ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']));
        return <<<CONF
            pid $this->folder/nginx.pid;
            error_log $this->folder/nginx.log;
            daemon off;
            worker_processes 1;
            $user
            events {}
            http {
                access_log off;
                $temporary
                keepalive_requests 1000000;
                keepalive_timeout 1h;
                upstream fpm { server unix:$this->folder/fpm.sock; }
                server {
                    listen 127.0.0.1:$this->port;
                    location / {
                        fastcgi_pass fpm;
                        fastcgi_param SCRIPT_FILENAME $this->folder/www\$fastcgi_script_name;
                        fastcgi_param REQUEST_METHOD \$request_method;
                        fastcgi_param QUERY_STRING \$query_string;
                        fastcgi_param REMOTE_ADDR \$remote_addr;
                    }
                }
            }
            CONF;
    }

    private function stop(): void
    {
        foreach ($this->processes as $process) {
            proc_terminate($process, SIGTERM);
            proc_close($process);
        }
        remove($this->folder);
    }
}
