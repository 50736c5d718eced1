<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Illuminate\Contracts\Config\Repository;
use InvalidArgumentException;
use RuntimeException;
use TokenBucket\ArrayStorage;
use TokenBucket\Decision;
use TokenBucket\FixedWindow;

/** The fixed windows of an application's keys, in one storage. */
final class Windows
{
    /** The most hits that a window of the extension counts. */
    public const MOST_HITS = 16_777_214;

    /** The longest window of the extension, in seconds: four years. */
    public const LONGEST = 126_144_000;

    /** Longer keys are hashed. Identifiers have at most 4,096 bytes, of which a prefix takes some. */
    private const LONGEST_KEY = 2_048;

    private CarbonClock $clock;

    private bool $isConfigured = false;

    private ArrayStorage|string|null $storage = null;

    /** Keeps applications apart that share a storage: the cache's prefix, as for the keys of Laravel's own limiter. */
    private string $prefix = '';

    public function __construct(private Repository $config)
    {
        $this->clock = new CarbonClock();
    }

    /** At the first call, because providers name their limiters before an application is configured by its tests. */
    private function configure(): void
    {
        if (!function_exists('TokenBucket\limiter')) {
            throw new RuntimeException(
                'token-bucket/laravel needs the PHP extension token_bucket, which is not loaded: see `php --ri token_bucket` and php.ini'
            );
        }
        $storage = $this->config->get('token_bucket.storage');
        if ($storage !== null && !is_string($storage)) {
            throw new InvalidArgumentException(
                'config/token_bucket.php: "storage" must be a DSN such as redis://10.0.0.5, or null for the directive token_bucket.storage; '
                . get_debug_type($storage) . ' given'
            );
        }
        $this->storage = match ($storage) {
            // An environment variable that is set to nothing.
            '' => null,
            'array:' => new ArrayStorage(),
            default => $storage,
        };
        $prefix = $this->config->get('cache.prefix');
        $this->prefix = is_string($prefix) ? $prefix : '';
        $this->isConfigured = true;
    }

    /**
     * The window of a key, to take hits from it.
     *
     * @param string $name what statistics() counts it under
     */
    public function window(string $key, int $maxAttempts, float $seconds, string $name): FixedWindow
    {
        $prefix = $this->prefix();
        $this->clock->follow();
        if (strlen($key) > self::LONGEST_KEY) {
            $key = hash('sha256', $key);
        }

        return new FixedWindow($this->storage, $prefix . $key, min($maxAttempts, self::MOST_HITS), $seconds, $name);
    }

    /** The key in a whole identifier, as statistics() lists it; null if it has not this application's prefix. */
    public function keyIn(string $identifier): ?string
    {
        $prefix = $this->prefix();

        return str_starts_with($identifier, $prefix) ? substr($identifier, strlen($prefix)) : null;
    }

    /** What stands before each key in an identifier. */
    private function prefix(): string
    {
        if (!$this->isConfigured) {
            $this->configure();
        }

        return "{$this->prefix}throttle:";
    }

    /** The hits and the end of a key's window, whatever its limit and its length. Changes nothing. */
    public function peek(string $key): Decision
    {
        return $this->anyWindow($key)->peek();
    }

    /** The window of a key for calls that do not name its limit and its length. It must take no hits. */
    public function anyWindow(string $key): FixedWindow
    {
        return $this->window($key, self::MOST_HITS, self::LONGEST, RateLimiter::NAME);
    }
}
