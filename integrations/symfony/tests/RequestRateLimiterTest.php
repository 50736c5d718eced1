<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Symfony\Component\HttpFoundation\RateLimiter\PeekableRequestRateLimiterInterface;
use Symfony\Component\HttpFoundation\RateLimiter\RequestRateLimiterInterface;
use Symfony\Component\HttpFoundation\Request;
use TokenBucket\Symfony\LoginRateLimiter;
use TokenBucket\Symfony\RequestRateLimiter;

final class RequestRateLimiterTest extends FrozenTime
{
    private static function from(string $address, ?string $user = null): Request
    {
        $request = new Request([], [], [], [], [], ['REMOTE_ADDR' => $address]);
        if ($user !== null) {
            $request->attributes->set(LoginRateLimiter::LAST_USERNAME, $user);
        }

        return $request;
    }

    public function testItIsSymfonysInterfaceAndPeekableWhereThatExists(): void
    {
        $limiter = new RequestRateLimiter($this->factory(self::FIXED));
        self::assertInstanceOf(RequestRateLimiterInterface::class, $limiter);
        self::assertSame(interface_exists(PeekableRequestRateLimiterInterface::class), $limiter instanceof PeekableRequestRateLimiterInterface);
    }

    public function testItLimitsNetworksByAllOfItsLimits(): void
    {
        $limiter = new RequestRateLimiter($this->factory(self::FIXED), $this->factory(['limit' => 2] + self::SLIDING));
        foreach (['192.0.2.1' => '192.0.2.2', '2001:db8::1' => '2001:db8:0:1::1'] as $client => $other) {
            self::assertSame(2, $limiter->peek(self::from($client))->getRemainingTokens());
            self::assertTrue($limiter->consume(self::from($client))->isAccepted());
            self::assertTrue($limiter->consume(self::from($client))->isAccepted());
            self::assertFalse($limiter->consume(self::from($client))->isAccepted());
            self::assertTrue($limiter->peek(self::from($other))->isAccepted());
            self::assertSame(2, $limiter->peek(self::from($other))->getRemainingTokens());
        }
        self::assertFalse($limiter->consume(self::from('2001:db8::ffff'))->isAccepted(), 'an address of the same /64');
        $limiter->reset(self::from('192.0.2.1'));
        self::assertSame(2, $limiter->peek(self::from('192.0.2.1'))->getRemainingTokens());
    }

    public function testProxiesAreThoseThatSymfonyTrusts(): void
    {
        $limiter = new RequestRateLimiter($this->factory(['limit' => 1] + self::FIXED));
        $request = self::from('192.0.2.1');
        $request->headers->set('X-Forwarded-For', '198.51.100.7');
        self::assertTrue($limiter->consume($request)->isAccepted());
        self::assertFalse($limiter->consume(self::from('192.0.2.1'))->isAccepted(), 'a header of an untrusted client is not believed');
        Request::setTrustedProxies(['192.0.2.1'], Request::HEADER_X_FORWARDED_FOR);
        try {
            self::assertTrue($limiter->consume($request)->isAccepted());
            self::assertFalse($limiter->consume(self::from('198.51.100.7'))->isAccepted());
        } finally {
            Request::setTrustedProxies([], Request::HEADER_X_FORWARDED_FOR);
        }
    }

    public function testARequestWithoutLimitsOrAddressIsNoError(): void
    {
        self::assertTrue((new RequestRateLimiter())->consume(self::from('192.0.2.1'))->isAccepted());
        self::assertNull((new RequestRateLimiter())->attempt(self::from('192.0.2.1')));
        self::assertTrue((new RequestRateLimiter($this->factory(self::FIXED)))->consume(new Request())->isAccepted());
    }

    public function testAnotherKeyNeedsOneMethod(): void
    {
        $factory = $this->factory(['limit' => 1] + self::FIXED);
        $limiter = new class ($factory) extends RequestRateLimiter {
            public function __construct(private \TokenBucket\Symfony\LimiterFactory $factory)
            {
                parent::__construct();
            }

            protected function getLimiters(Request $request): array
            {
                return [$this->factory->create((string) $request->headers->get('X-Api-Key'))];
            }
        };
        $request = self::from('192.0.2.1');
        self::assertTrue($limiter->consume($request)->isAccepted());
        self::assertFalse($limiter->consume($request)->isAccepted());
        $request->headers->set('X-Api-Key', 'another');
        self::assertTrue($limiter->consume($request)->isAccepted());
    }

    public function testALoginIsLimitedByUserAndByNetwork(): void
    {
        $limiter = new LoginRateLimiter($this->factory(['limit' => 4] + self::FIXED), $this->factory(['limit' => 2] + self::SLIDING), 'secret');
        foreach (['alice', ' ALICE'] as $spelling) {
            self::assertTrue($limiter->consume(self::from('192.0.2.1', $spelling))->isAccepted());
        }
        self::assertFalse($limiter->consume(self::from('192.0.2.1', 'Alice'))->isAccepted());
        self::assertTrue($limiter->consume(self::from('192.0.2.2', 'alice'))->isAccepted());
        self::assertTrue($limiter->consume(self::from('192.0.2.1', "\xff"))->isAccepted());
        self::assertTrue($limiter->consume(self::from('192.0.2.1'))->isAccepted());
        self::assertFalse($limiter->consume(self::from('192.0.2.1', 'bob'))->isAccepted(), 'the network');
        $limiter->reset(self::from('192.0.2.1', 'alice'));
        self::assertFalse($limiter->consume(self::from('192.0.2.1', 'alice'))->isAccepted(), 'a reset leaves the limit of the network');
    }

    public function testADecisionCanBeRefunded(): void
    {
        $limiter = new RequestRateLimiter($this->factory(['limit' => 1] + self::FIXED));
        for ($i = 0; $i < 3; $i++) {
            $decision = $limiter->attempt(self::from('192.0.2.1'));
            self::assertNotNull($decision);
            self::assertTrue($decision->isAccepted());
            self::assertTrue($decision->refund());
        }
    }
}
