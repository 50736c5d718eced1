<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/**
 * Which requests count: `POST /login`, `/search`, `GET /*.php$`.
 *
 * As in robots.txt a path is a prefix, `*` stands for anything, `$` at the end for the end. Without a method every method counts.
 */
final class RequestPattern
{
    /** For a request, `POST /login?x HTTP/1.1`, in quotes or not. */
    private string $request;
    /** Finds every line that may match, and others. */
    private string $quick;

    /**
     * @param list<string> $patterns a request counts if one of them matches; none: every request counts
     *
     * @throws UsageError
     */
    public function __construct(public readonly array $patterns)
    {
        $requests = $quick = [];
        foreach ($patterns as $pattern) {
            if (!preg_match('~^(?:([A-Za-z]+|\*) +)?(/\S*|\*\S*)$~D', $pattern, $match)) {
                throw new UsageError('--match must be such as "POST /login", "/search" or "GET /*.php$"; it is "' . Text::printable($pattern) . '"');
            }
            $method = in_array($match[1], ['', '*'], true) ? '[^\s"|]++' : strtoupper($match[1]);
            $path = rtrim($match[2], '$');
            // Some programs write the whole URL.
            $requests[] = "{$method}[\"\\s|]++(?:https?://[^/\\s\"]*+)?" . self::pathExpression(explode('*', $path), $path !== $match[2]);
            // JSON may write a slash as \/, and JSON within JSON as \\/. What else it escapes ends the part that is looked for.
            $quick[] = str_replace('/', '\\\\*/', preg_quote(substr($path, 0, strcspn($path, '*"\\')), '~'));
        }
        $this->request = '~^"?+(?:' . implode('|', $requests) . ')~';
        $this->quick = '~' . implode('|', $quick) . '|\\\\u~';
    }

    public function matches(string $request): bool
    {
        return $this->patterns === [] || preg_match($this->request, $request) === 1;
    }

    /** Whether the line can match, so that most lines need not be read in full. */
    public function mayMatch(string $line): bool
    {
        return $this->patterns === [] || preg_match($this->quick, $line) === 1;
    }

    /**
     * A regular expression that never tries one wildcard twice, so a long path that was made for it takes no time: what a part of
     * the pattern has matched first is right, but for the last part, which may have to stand at the end.
     *
     * @param non-empty-list<string> $parts what stands between the wildcards
     */
    private static function pathExpression(array $parts, bool $is_whole): string
    {
        $parts = array_map(static fn (string $part): string => preg_quote($part, '~'), $parts);
        $end = $is_whole ? '(?![^\s"])' : '';
        $last = count($parts) > 1 ? '[^\s"]*' . array_pop($parts) : '';
        return (string) array_shift($parts) . implode('', array_map(static fn (string $part): string => "(?>[^\\s\"]*?$part)", $parts)) . $last . $end;
    }
}
