<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use PHPUnit\Framework\TestCase;

final class ExtensionTest extends TestCase
{
    public function test_php_without_the_extension_is_told_what_is_missing(): void
    {
        foreach (['new RateLimitMiddleware("api", new Psr17Factory())', 'new ClientNetwork()'] as $expression) {
            $code = 'use Nyholm\Psr7\Factory\Psr17Factory; use TokenBucket\Psr15\{ClientNetwork, RateLimitMiddleware};'
                . 'require $argv[1]; ' . $expression . ';';
            $arguments = array_map(escapeshellarg(...), [PHP_BINARY, '-n', '-r', $code, __DIR__ . '/bootstrap.php']);
            $output = (string) shell_exec(implode(' ', $arguments) . ' 2>&1');

            self::assertStringContainsString('needs the PHP extension token_bucket, which this PHP has not loaded', $output);
        }
    }
}
