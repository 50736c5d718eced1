<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\Policy\NoLimiter;
use Symfony\Component\RateLimiter\Storage\StorageInterface;

/**
 * Makes limiters from the configuration of Symfony's RateLimiterFactory.
 *
 *     $factory = new RateLimiterFactory(['id' => 'login', 'policy' => 'fixed_window', 'limit' => 5, 'interval' => '15 minutes']);
 *     $limit = $factory->create($network)->consume();
 */
final class RateLimiterFactory implements LimiterFactory
{
    /** An identifier has at most 4,096 bytes; a client's key may be of any length, and this leaves room for the id. */
    private const LONGEST_KEY = 1024;

    private const LARGEST_SLIDING_WINDOW = 1024;

    private LimiterConfiguration $configuration;

    /**
     * @param array{id: string, policy: string, limit?: int, interval?: string, rate?: array{interval: string, amount?: int}} $config
     * @param StorageInterface|null $storage Symfony's storage, so that a call that has one needs no change. It is not used
     * @param LockFactory|null $lockFactory Symfony's lock, likewise. It is not used: each call is one atomic step
     * @param \TokenBucketStorage|string|null $tokenBucketStorage a DSN such as redis://10.0.0.5, a storage object of the extension,
     *     or null for the directive token_bucket.storage
     * @param string $application keeps the limits of two applications apart that have the same storage and names of limiters
     * @param list<string> $except networks and addresses: a key that is an address or network in one of them has no limit
     *
     * @throws \LogicException if the configuration is not valid
     * @throws \ValueError if $except has what is not an address or network
     * @throws \TokenBucket\ConfigurationException if the DSN is not valid
     */
    public function __construct(
        array $config,
        ?StorageInterface $storage = null,
        ?LockFactory $lockFactory = null,
        #[\SensitiveParameter] private \TokenBucketStorage|string|null $tokenBucketStorage = null,
        private string $application = '',
        private array $except = [],
    ) {
        if (!function_exists('TokenBucket\limiter')) {
            throw new \LogicException('The PHP extension token_bucket is not loaded. Its docs/install.md tells how to install it.');
        }
        $this->configuration = LimiterConfiguration::fromArray($config);
        // Here, and not at the first request, a mistake is found.
        \TokenBucket\in_network('', $except);
        // A number out of range or a wrong DSN is found here, and not at the first request. This opens no storage.
        if ($this->configuration->policy !== 'no_limit') {
            $this->nativeLimiter($this->identifier('example'));
        }
    }

    /**
     * Makes a factory whose application is told apart by its secret: that is the same on all hosts, and after each deployment.
     *
     * @param array{id: string, policy: string, limit?: int, interval?: string, rate?: array{interval: string, amount?: int}} $config
     * @param list<string> $except
     */
    public static function withSecret(
        array $config,
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        #[\SensitiveParameter] string $secret,
        array $except = [],
    ): self {
        $application = $secret === '' ? '' : substr(hash_hmac('sha256', 'token_bucket', $secret), 0, 8);

        return new self($config, null, null, $storage, $application, $except);
    }

    public function create(?string $key = null): LimiterInterface
    {
        [$client, $page] = self::clientAndPage($key ?? '');
        $is_exempt = $this->except !== [] && \TokenBucket\in_network($client, $this->except);
        if ($this->configuration->policy === 'no_limit' || $is_exempt) {
            return new NoLimiter();
        }

        return new Limiter($this->nativeLimiter($this->identifier(($page === '' ? $client : \TokenBucket\client_network($client)) . $page)), $this->configuration);
    }

    /**
     * Takes the key apart that #[RateLimit] makes by itself, such as "2001:db8::1~GET~/search": a client of IPv6 has a network of
     * addresses.
     *
     * @return array{string, string}
     */
    private static function clientAndPage(string $key): array
    {
        $is_made_by_symfony = preg_match('#^([0-9a-f.:]+)(~[A-Z]+~/.*)$#Ds', $key, $parts) === 1 && filter_var($parts[1], FILTER_VALIDATE_IP);

        return $is_made_by_symfony ? [$parts[1], $parts[2]] : [$key, ''];
    }

    private function nativeLimiter(string $identifier): \TokenBucket\Limiter
    {
        $limit = $this->configuration->limit;
        $seconds = $this->configuration->seconds;
        $name = $this->configuration->id;
        try {
            return match ($this->configuration->policy) {
                'token_bucket' => \TokenBucket::per($this->tokenBucketStorage, $identifier, $limit, $seconds, $name),
                'fixed_window' => new \TokenBucket\FixedWindow($this->tokenBucketStorage, $identifier, $limit, $seconds, $name),
                'sliding_window' => new \TokenBucket\SlidingWindow($this->tokenBucketStorage, $identifier, $limit, $seconds, $name),
                default => throw new \LogicException("There is no policy \"{$this->configuration->policy}\"."),
            };
        } catch (\ValueError $error) {
            // A sliding window keeps the time of each hit.
            $advice = $this->configuration->policy === 'sliding_window' && $limit > self::LARGEST_SLIDING_WINDOW
                ? ' Take the policy "token_bucket" or "fixed_window", ' . LimiterConfiguration::LEAVE . '.'
                : '';
            throw new \InvalidArgumentException("The limiter \"$name\": {$error->getMessage()}.$advice", 0, $error);
        }
    }

    /** "login@shop:192.0.2.1". What separates the parts is escaped, so that no two limits have the same identifier. */
    private function identifier(string $key): string
    {
        $escaped = static fn (string $part): string => strtr($part, ['%' => '%25', ':' => '%3A', '@' => '%40']);
        $limit = $escaped($this->configuration->id) . ($this->application === '' ? '' : '@' . $escaped($this->application));

        return strlen($key) <= self::LONGEST_KEY ? "$limit:$key" : "$limit%long:" . hash('sha256', $key);
    }
}
