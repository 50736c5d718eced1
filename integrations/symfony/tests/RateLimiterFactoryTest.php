<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\OptionsResolver\Exception\InvalidOptionsException;
use Symfony\Component\OptionsResolver\Exception\MissingOptionsException;
use Symfony\Component\OptionsResolver\Exception\UndefinedOptionsException;
use Symfony\Component\RateLimiter\Policy\NoLimiter;
use Symfony\Component\RateLimiter\RateLimiterFactoryInterface;
use Symfony\Component\RateLimiter\Storage\InMemoryStorage;
use TokenBucket\ConfigurationException;
use TokenBucket\Symfony\RateLimiterFactory;

final class RateLimiterFactoryTest extends FrozenTime
{
    public function testItIsSymfonysInterfaceWhereThatExists(): void
    {
        if (!interface_exists(RateLimiterFactoryInterface::class)) {
            self::markTestSkipped('This Symfony has no RateLimiterFactoryInterface.');
        }
        self::assertInstanceOf(RateLimiterFactoryInterface::class, $this->factory(self::FIXED));
    }

    public function testEachKeyAndEachIdHasALimitOfItsOwn(): void
    {
        $one = $this->factory(['id' => 'a'] + self::FIXED);
        $colon = $this->factory(['id' => 'a:b'] + self::FIXED);
        $one->create('b:c')->consume(5);
        self::assertFalse($one->create('b:c')->consume()->isAccepted());
        self::assertTrue($one->create('b')->consume()->isAccepted());
        self::assertTrue($one->create()->consume(5)->isAccepted());
        self::assertTrue($colon->create('c')->consume(5)->isAccepted());
    }

    public function testEachApplicationHasLimitsOfItsOwn(): void
    {
        $config = ['id' => 'of'] + self::FIXED;
        (new RateLimiterFactory($config, null, null, 'array:', 'shop'))->create('client')->consume(5);
        self::assertFalse((new RateLimiterFactory($config, null, null, 'array:', 'shop'))->create('client')->consume()->isAccepted());
        self::assertTrue((new RateLimiterFactory($config, null, null, 'array:', 'blog'))->create('client')->consume()->isAccepted());
        self::assertTrue((new RateLimiterFactory($config, null, null, 'array:'))->create('client')->consume()->isAccepted());
        self::assertTrue((new RateLimiterFactory(['id' => 'of@shop'] + $config, null, null, 'array:'))->create('client')->consume()->isAccepted());
        self::assertTrue(RateLimiterFactory::withSecret($config, 'array:', 'secret')->create('client')->consume(5)->isAccepted());
        self::assertFalse(RateLimiterFactory::withSecret($config, 'array:', 'secret')->create('client')->consume()->isAccepted());
        self::assertTrue(RateLimiterFactory::withSecret($config, 'array:', 'other')->create('client')->consume()->isAccepted());
    }

    public function testAKeyInAnExemptNetworkHasNoLimit(): void
    {
        $factory = new RateLimiterFactory(['id' => 'exempt'] + self::FIXED, null, null, 'array:', '', ['10.0.0.0/8', '2001:db8::/32']);
        foreach (['10.1.2.3', '2001:db8:1:2::/64'] as $key) {
            self::assertInstanceOf(NoLimiter::class, $factory->create($key));
        }
        foreach (['10.1.2.3 anna', '192.0.2.1', '2001::/16', '', null] as $key) {
            self::assertTrue($factory->create($key)->consume(5)->isAccepted());
            self::assertFalse($factory->create($key)->consume()->isAccepted(), (string) $key);
            $factory->create($key)->reset();
        }
        $this->expectException(\ValueError::class);
        new RateLimiterFactory(['id' => 'exempt'] + self::FIXED, null, null, 'array:', '', ['10.0.0.0/33']);
    }

    public function testAKeyMayBeOfAnyLength(): void
    {
        $factory = $this->factory(self::SLIDING);
        $long = str_repeat('x', 100_000);
        $factory->create($long)->consume(5);
        self::assertFalse($factory->create($long)->consume()->isAccepted());
        self::assertTrue($factory->create("$long.")->consume()->isAccepted());
    }

    public function testTheNameOfTheLimitIsItsId(): void
    {
        $factory = $this->factory(['id' => 'a:b'] + self::FIXED);
        $limiter = $factory->create('client');
        $limiter->consume(5);
        self::assertInstanceOf(\TokenBucket\Symfony\Limiter::class, $limiter);
        self::assertSame(['a:b'], $limiter->getNative()->attempt()->getDeniedBy());
    }

    public function testNoLimitIsSymfonysOwn(): void
    {
        self::assertInstanceOf(NoLimiter::class, (new RateLimiterFactory(['id' => 'free', 'policy' => 'no_limit']))->create('client'));
    }

    public function testSymfonysStorageMayBeGivenAndIsNotUsed(): void
    {
        $storage = new InMemoryStorage();
        $config = ['id' => 'given'] + self::FIXED;
        self::assertTrue((new RateLimiterFactory($config, $storage, null, 'array:'))->create('client')->consume(5)->isAccepted());
        self::assertNull($storage->fetch('given-client'));
        self::assertFalse((new RateLimiterFactory($config, null, null, 'array:'))->create('client')->consume()->isAccepted());
    }

    public function testACallOfSymfonysFactoryNeedsNoChange(): void
    {
        $lock = new LockFactory(new FlockStore(sys_get_temp_dir()));
        $config = ['id' => bin2hex(random_bytes(8))] + self::FIXED;
        self::assertTrue((new RateLimiterFactory($config, new InMemoryStorage(), $lock))->create('client')->consume(5)->isAccepted());
        $named = new RateLimiterFactory(config: $config, storage: new InMemoryStorage(), lockFactory: $lock);
        self::assertFalse($named->create('client')->consume()->isAccepted());
    }

    public function testAWrongStorageIsFoundAtOnce(): void
    {
        self::assertThrows(ConfigurationException::class, 'scheme', static fn () => new RateLimiterFactory(['id' => 'a'] + self::FIXED, null, null, 'apcu:'));
    }

    public function testIntervalsAreThoseOfSymfony(): void
    {
        foreach (['90 seconds' => 90, '2 hours' => 7200, '1 week' => 604_800, '1 day 12 hours' => 129_600] as $interval => $seconds) {
            $limiter = $this->factory(['id' => $interval, 'policy' => 'fixed_window', 'limit' => 1, 'interval' => $interval])->create();
            self::assertRetryAfter($seconds, static fn () => $limiter->consume());
        }
    }

    public function testMistakesNameTheLimiterAndWhatIsRight(): void
    {
        $mistakes = [
            [MissingOptionsException::class, '"id"', ['policy' => 'no_limit']],
            [MissingOptionsException::class, '"policy"', ['id' => 'x']],
            [InvalidOptionsException::class, '"token_bucket", "fixed_window", "sliding_window", "no_limit"', ['id' => 'x', 'policy' => 'leaky']],
            [UndefinedOptionsException::class, '"limits"', ['id' => 'x', 'limits' => 5] + self::FIXED],
            [\InvalidArgumentException::class, 'The limiter "x" has "anchor_at"', ['id' => 'x', 'anchor_at' => '2024-01-05'] + self::FIXED],
            [\InvalidArgumentException::class, 'CalendarWindow, or leave the limiter to Symfony: with the bundle, name it in token_bucket.left_to_symfony.', ['id' => 'x', 'anchor_at' => '@0'] + self::FIXED],
            [InvalidOptionsException::class, '"limit"', ['id' => 'x', 'limit' => '5'] + self::FIXED],
            [InvalidOptionsException::class, '"amount"', ['id' => 'x', 'rate' => ['interval' => '1 hour', 'amount' => 0]] + self::BUCKET],
            [MissingOptionsException::class, '"interval"', ['id' => 'x', 'rate' => ['amount' => 1]] + self::BUCKET],
            [\InvalidArgumentException::class, 'needs the option "limit"', ['id' => 'x', 'limit' => null] + self::FIXED],
            [\InvalidArgumentException::class, 'needs the option "interval"', ['id' => 'x', 'policy' => 'fixed_window', 'limit' => 5]],
            [\InvalidArgumentException::class, 'needs the option "rate"', ['id' => 'x', 'policy' => 'token_bucket', 'limit' => 5]],
            [\LogicException::class, 'Cannot parse the interval "soon" of the limiter "x"', ['id' => 'x', 'interval' => 'soon'] + self::FIXED],
            [\InvalidArgumentException::class, 'longer than 0 seconds', ['id' => 'x', 'interval' => '0 seconds'] + self::FIXED],
            [\InvalidArgumentException::class, 'The limiter "x"', ['id' => 'x', 'interval' => '5 years'] + self::FIXED],
            [\InvalidArgumentException::class, 'The limiter "x"', ['id' => 'x', 'limit' => 0] + self::BUCKET],
            [\InvalidArgumentException::class, 'Take the policy "token_bucket" or "fixed_window", or leave the limiter to Symfony', ['id' => 'x', 'limit' => 1025] + self::SLIDING],
            [\InvalidArgumentException::class, '1 to 256 bytes', ['id' => ''] + self::FIXED],
        ];
        foreach ($mistakes as [$class, $message, $config]) {
            self::assertThrows($class, $message, static fn () => new RateLimiterFactory($config));
        }
    }

    public function testWithoutTheExtensionItSaysWhatIsMissing(): void
    {
        $code = 'require $argv[1]; try { new TokenBucket\Symfony\RateLimiterFactory(["id" => "x", "policy" => "no_limit"]); }'
            . ' catch (LogicException $error) { echo $error->getMessage(); }';
        $command = array_map(escapeshellarg(...), [PHP_BINARY, '-n', '-r', $code, __DIR__ . '/bootstrap.php']);
        self::assertStringStartsWith('The PHP extension token_bucket is not loaded', (string) shell_exec(implode(' ', $command) . ' 2>&1'));
    }

    public function testTheKeyThatTheAttributeMakesCountsANetworkOfIpv6(): void
    {
        $factory = new RateLimiterFactory(['id' => 'attribute', 'policy' => 'fixed_window', 'limit' => 3, 'interval' => '1 hour'], null, null, 'array:', '', ['2001:db8:2::/48', '10.0.0.0/8']);
        $accepted = static fn (string $key): bool => $factory->create($key)->consume()->isAccepted();
        foreach (['::1', '::2:3', ':4:5:6:7', '::8'] as $i => $rest) {
            self::assertSame($i < 3, $accepted("2001:db8:1:1$rest~GET~/search"));
        }
        foreach (['2001:db8:1:1::1~POST~/search', '2001:db8:1:1::1~GET~/', '2001:db8:1:2::1~GET~/search', '192.0.2.1~GET~/search', 'unknown~GET~/search', '2001:db8:1:1::1'] as $other) {
            self::assertTrue($accepted($other), $other);
        }
        foreach (['2001:db8:2::1~GET~/search', '10.1.2.3~GET~/search'] as $exempt) {
            self::assertSame([true, true, true, true], array_map($accepted, array_fill(0, 4, $exempt)), $exempt);
        }
    }
}
