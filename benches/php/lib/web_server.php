<?php
/*
 * A php-fpm behind an nginx, configured as in production: opcache on, a fixed number of workers.
 */
require_once dirname(__DIR__, 3) . '/php-tests/06_fpm/fpm.inc';

final class WebServer
{
    public const WORKERS = 2;
    /** All that the page may need. */
    public const EXTENSIONS = ['posix', 'apcu', 'ctype', 'igbinary', 'redis'];

    public readonly int $port;
    private readonly Fpm $fpm;
    private readonly string $folder;
    /** @var int[] */
    public readonly array $workers;

    public function __construct(string $document_root)
    {
        $servers = ['TB_REDIS', 'TB_REDIS_UNIX', 'TB_MEMCACHED_UNIX', 'TB_MARIADB_UNIX'];
        $this->fpm = new Fpm(['www' => [
            'pm.max_children' => (string) self::WORKERS,
            'catch_workers_output' => 'yes',
            'php_admin_value[token_bucket.timeout_ms]' => '5000',
            'php_admin_value[token_bucket.connect_timeout_ms]' => '5000',
            'php_admin_value[token_bucket.on_error]' => 'throw',
        ] + array_combine(array_map(fn (string $name): string => "env[$name]", $servers), array_map(fn (string $name): string => '"' . getenv($name) . '"', $servers))], [
            'extension' => self::EXTENSIONS,
            'zend_extension' => 'opcache',
            'opcache.enable' => '1',
            'opcache.validate_timestamps' => '0',
            'opcache.file_update_protection' => '0',
            'apc.enabled' => '1',
            'error_reporting' => (string) (E_ALL & ~E_DEPRECATED),
        ]);
        // As root, the workers run as the web servers' user, which may not be able to read the source.
        foreach (glob("$document_root/*.php") as $file) {
            $this->fpm->script(basename($file), file_get_contents($file));
        }
        $this->folder = temporary_folder();
        chmod($this->folder, 0777);
        $this->port = free_port();
        file_put_contents("$this->folder/nginx.conf", $this->nginx());
        $output = ['file', "$this->folder/output", 'a'];
        $nginx = proc_open(['setpriv', '--pdeathsig', 'TERM', 'nginx', '-c', "$this->folder/nginx.conf", '-e', "$this->folder/nginx.log"], [['file', '/dev/null', 'r'], $output, $output], $pipes);
        register_shutdown_function(function () use ($nginx): void {
            proc_terminate($nginx);
            proc_close($nginx);
        });
        comes_true(fn () => str_contains((string) $this->get('none'), 'articles</h1>'), 10) || throw new RuntimeException("nginx did not start: {$this->logs()}");
        $this->workers = $this->fpm->workers();
    }

    /** The page's answer with this limiter in front of it. */
    public function get(string $limiter): string|false
    {
        return @file_get_contents($this->url($limiter), context: stream_context_create(['http' => ['ignore_errors' => true]]));
    }

    /** The end of the servers' output and logs. */
    public function logs(): string
    {
        return substr($this->fpm->log() . implode(array_map(file_get_contents(...), glob("$this->folder/{output,*.log}", GLOB_BRACE))), -1_000);
    }

    public function url(string $limiter): string
    {
        return "http://127.0.0.1:$this->port/index.php?limiter=$limiter";
    }

    private function nginx(): string
    {
        $user = posix_geteuid() === 0 ? 'user www-data;' : '';
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
                upstream fpm { server unix:{$this->fpm->folder}/www.sock; }
                server {
                    listen 127.0.0.1:$this->port;
                    location / {
                        fastcgi_pass fpm;
                        fastcgi_param SCRIPT_FILENAME {$this->fpm->folder}\$fastcgi_script_name;
                        fastcgi_param REQUEST_METHOD \$request_method;
                        fastcgi_param QUERY_STRING \$query_string;
                        fastcgi_param REMOTE_ADDR \$remote_addr;
                    }
                }
            }
            CONF;
    }
}
