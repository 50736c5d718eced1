<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use PHPUnit\Framework\TestCase;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\ErrorHandler\ErrorHandler;
use Symfony\Component\HttpClient\ThrottlingHttpClient;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Attribute\RateLimit;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\RateLimiter\CompoundRateLimiterFactory as SymfonyCompoundFactory;
use Symfony\Component\RateLimiter\RateLimiterFactory as SymfonyFactory;
use Symfony\Component\Security\Http\EventListener\LoginThrottlingListener as SymfonyListener;
use Symfony\Component\Security\Http\RateLimiter\DefaultLoginRateLimiter;
use TokenBucket\ConcurrencyLimit;
use TokenBucket\Symfony\CompoundLimiter;
use TokenBucket\Symfony\Limiter;
use TokenBucket\Symfony\LoginRateLimiter;
use TokenBucket\Symfony\LoginThrottlingListener;
use TokenBucket\Symfony\RateLimiterFactory;
use TokenBucket\Symfony\RequestRateLimiter;
use TokenBucket\Symfony\Tests\app\AppKernel;

/** The bundle in a real kernel, whose container is compiled for each test. */
final class BundleTest extends TestCase
{
    private const LOGIN_LIMITER = 'security.login_throttling.main.limiter';
    private const LOGIN_LISTENER = 'security.listener.login_throttling.main';

    private ?AppKernel $kernel = null;

    protected function tearDown(): void
    {
        $this->kernel?->shutdown();
        // A kernel that booted leaves Symfony's handlers behind.
        while (self::isSymfonys(set_exception_handler(null))) {
            restore_exception_handler();
            restore_exception_handler();
        }
        restore_exception_handler();
        while (self::isSymfonys(set_error_handler(null))) {
            restore_error_handler();
            restore_error_handler();
        }
        restore_error_handler();
    }

    private static function isSymfonys(mixed $handler): bool
    {
        return is_array($handler) && $handler[0] instanceof ErrorHandler;
    }

    /**
     * @param array<string, mixed> $options of the bundle
     * @param (\Closure(ContainerBuilder): void)|null $configure
     */
    private function kernel(array $options = [], ?\Closure $configure = null): AppKernel
    {
        $this->kernel = new AppKernel('token_bucket' . bin2hex(random_bytes(4)), false, static function (ContainerBuilder $container) use ($options, $configure): void {
            $container->loadFromExtension('token_bucket', $options);
            $container->loadFromExtension('framework', ['test' => true]);
            $ids = ['limiter.search', 'limiter.mail', 'limiter.code', 'limiter.free', 'limiter._login_local_main', 'limiter._login_global_main'];
            foreach ([...$ids, self::LOGIN_LIMITER, self::LOGIN_LISTENER] as $id) {
                $container->setAlias("public.$id", $id)->setPublic(true);
            }
            if ($configure !== null) {
                $configure($container);
            }
        });
        $this->kernel->boot();

        return $this->kernel;
    }

    /**
     * @param array<string, mixed> $options
     * @param (\Closure(ContainerBuilder): void)|null $configure
     */
    private function container(array $options = [], ?\Closure $configure = null): ContainerInterface
    {
        return $this->kernel($options, $configure)->getContainer();
    }

    /**
     * @param array<string, mixed> $options
     * @param (\Closure(ContainerBuilder): void)|null $configure
     */
    private function assertRefused(string $message, array $options, ?\Closure $configure = null): void
    {
        try {
            $this->kernel($options, $configure);
        } catch (\Exception $error) {
            self::assertStringContainsString($message, $error->getMessage());

            return;
        }
        self::fail("The container was built, but should have been refused: $message");
    }

    public function testAllLimitersAndTheLoginAreReplacedWithoutAnyOption(): void
    {
        $container = $this->container();
        foreach (['search', 'mail', 'code', 'free', '_login_local_main', '_login_global_main'] as $name) {
            self::assertInstanceOf(RateLimiterFactory::class, $container->get("public.limiter.$name"));
        }
        self::assertInstanceOf(LoginRateLimiter::class, $container->get('public.' . self::LOGIN_LIMITER));
        self::assertInstanceOf(LoginThrottlingListener::class, $container->get('public.' . self::LOGIN_LISTENER));
    }

    public function testLimitersCanBeLeftToSymfony(): void
    {
        $container = $this->container(['left_to_symfony' => ['mail']]);
        self::assertInstanceOf(RateLimiterFactory::class, $container->get('public.limiter.search'));
        self::assertInstanceOf(SymfonyFactory::class, $container->get('public.limiter.mail'));
    }

    public function testClientsOfExemptNetworksHaveNoLimit(): void
    {
        $container = $this->container(['except' => ['10.0.0.0/8']]);
        $limiter = $container->get('public.limiter.code');
        self::assertTrue($limiter->create('10.1.2.3')->consume(1_000)->isAccepted());
        self::assertSame([true, false], [$limiter->create('192.0.2.7')->consume(2)->isAccepted(), $limiter->create('192.0.2.7')->consume()->isAccepted()]);
    }

    public function testALoginOfWhichSymfonyDecidesBothLimitsIsSymfonys(): void
    {
        $container = $this->container(['left_to_symfony' => ['_login_local_main', '_login_global_main']]);
        self::assertInstanceOf(DefaultLoginRateLimiter::class, $container->get('public.' . self::LOGIN_LIMITER));
        self::assertInstanceOf(SymfonyListener::class, $container->get('public.' . self::LOGIN_LISTENER));
    }

    public function testEachLimiterMayHaveAStorageOfItsOwn(): void
    {
        putenv('SYMFONY_TEST_STORAGE=array:');
        $container = $this->container(['storage' => '%env(SYMFONY_TEST_STORAGE)%', 'storages' => ['mail' => 'shm:mails'], 'application' => 'shop']);
        $container->get('public.limiter.mail')->create('one')->consume(3);
        $container->get('public.limiter.code')->create('one')->consume(2);
        self::assertFalse((new \TokenBucket\FixedWindow('shm:mails', 'mail@shop:one', 3, 3600))->consume());
        self::assertFalse((new \TokenBucket\SlidingWindow('array:', 'code@shop:one', 2, 900))->consume());
    }

    public function testApplicationsWithOtherSecretsHaveLimitsOfTheirOwn(): void
    {
        $with = static fn (string $secret): \Closure => static function (ContainerBuilder $container) use ($secret): void {
            $container->loadFromExtension('framework', ['secret' => $secret]);
        };
        $take = fn (string $secret): bool => $this->container(['storage' => 'shm:secrets'], $with($secret))->get('public.limiter.mail')->create('one')->consume(3)->isAccepted();
        self::assertTrue($take('one'));
        self::assertTrue($take('another'));
        self::assertFalse($take('one'), 'also in a container that was built anew');
    }

    public function testALimitMayBeInTheEnvironment(): void
    {
        putenv('SYMFONY_TEST_LIMIT=2');
        $container = $this->container(['storage' => 'array:'], static function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', ['rate_limiter' => ['code' => ['limit' => '%env(int:SYMFONY_TEST_LIMIT)%']]]);
        });
        $limiter = $container->get('public.limiter.code')->create('environment');
        self::assertSame([true, false], [$limiter->consume(2)->isAccepted(), $limiter->consume()->isAccepted()]);
    }

    public function testMistakesAreFoundWhenTheContainerIsBuilt(): void
    {
        $this->assertRefused('"token_bucket.left_to_symfony" names "males", but framework.rate_limiter has no such limiter. It has: search, mail', ['left_to_symfony' => ['males']]);
        $this->assertRefused('"token_bucket.storages" names "males"', ['storages' => ['males' => 'shm:']]);
        $this->assertRefused('names "_login_local_main", but not the other limiter', ['left_to_symfony' => ['_login_local_main']]);
        $this->assertRefused('The option "token_bucket.except" must contain', ['except' => ['10.0.0.0/33']]);
        $this->assertRefused('store', ['store' => 'shm:']);
        $this->assertRefused('The option "token_bucket.storage": Unknown scheme "reddis:" in the storage DSN', ['storage' => 'reddis://10.0.0.5']);
        $this->assertRefused('The option "token_bucket.storages.mail": The port', ['storages' => ['mail' => 'redis://10.0.0.5:99999']]);
        $this->assertRefused('The option "token_bucket.storage": Unknown parameter "x"', ['storage' => '%dsn%'], static function (ContainerBuilder $container): void {
            $container->setParameter('dsn', 'shm:?x');
        });
    }

    public function testALimiterThatOnlySymfonyCanHaveIsFoundAndCanBeLeftToIt(): void
    {
        $huge = static function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', ['rate_limiter' => ['huge' => ['policy' => 'sliding_window', 'limit' => 5000, 'interval' => '1 hour']]]);
        };
        $this->assertRefused('The limiter "huge": TokenBucket\SlidingWindow::__construct()', [], $huge);
        $this->assertRefused('Take the policy "token_bucket" or "fixed_window", or leave the limiter to Symfony: with the bundle, name it in token_bucket.left_to_symfony.', [], $huge);
        $this->kernel(['left_to_symfony' => ['huge']], $huge);
        $this->assertRefused('The option "token_bucket.except" must contain addresses and networks', ['except' => ['2001:db8::/129']]);
    }

    public function testWindowsThatSymfonyReservesAreFoundWhenTheContainerIsBuilt(): void
    {
        if (!class_exists(ThrottlingHttpClient::class)) {
            self::markTestSkipped('This Symfony gives limiters to no service that reserves.');
        }
        $with = static fn (string $limiter): array => [
            'The Messenger transport "async"' => static fn (ContainerBuilder $container) => $container->loadFromExtension('framework', ['messenger' => [
                'transports' => ['async' => ['dsn' => 'in-memory://', 'rate_limiter' => $limiter]],
            ]]),
            'The HTTP client "partner"' => static fn (ContainerBuilder $container) => $container->loadFromExtension('framework', ['http_client' => [
                'scoped_clients' => ['partner' => ['base_uri' => 'https://example.org', 'rate_limiter' => $limiter]],
            ]]),
            'The HTTP client "http_client"' => static fn (ContainerBuilder $container) => $container->loadFromExtension('framework', ['http_client' => [
                'default_options' => ['rate_limiter' => $limiter],
            ]]),
        ];
        foreach ($with('mail') as $service => $configure) {
            $this->assertRefused("$service reserves. The limiter \"mail\" has the policy \"fixed_window\"", [], $configure);
            $this->kernel(['left_to_symfony' => ['mail']], $configure);
        }
        foreach ($with('search') as $configure) {
            $this->kernel([], $configure);
        }
        self::assertInstanceOf(RateLimiterFactory::class, $this->container()->get('public.limiter.search'));
    }

    public function testAnArgumentOfSymfonysFinalClassIsAnErrorThatNamesTheRightType(): void
    {
        $needing = static fn (string $method): \Closure => static function (ContainerBuilder $container) use ($method): void {
            $container->register('page', \ArrayObject::class)->setFactory([Pages::class, $method])->setAutowired(true)->setPublic(true);
        };
        // Symfony 8 has no argument of this type any more, and says so itself.
        $message = Kernel::MAJOR_VERSION < 8 ? 'token_bucket decides the limiter "search"' : 'Cannot autowire service "page"';
        $this->assertRefused($message, [], $needing('ofSymfony'));
        self::assertCount(2, $this->container([], $needing('ofThisPackage'))->get('page'));
    }

    public function testALimiterOfAnApplicationIsChargedBeforeThePasswordToo(): void
    {
        $container = $this->container([], static function (ContainerBuilder $container): void {
            $container->register('own', RequestRateLimiter::class)->setArguments([new Reference('limiter.code')]);
            $container->loadFromExtension('security', ['firewalls' => ['main' => ['login_throttling' => ['limiter' => 'own']]]]);
            foreach (['limiter._login_local_main', 'limiter._login_global_main', self::LOGIN_LIMITER] as $id) {
                $container->removeAlias("public.$id");
            }
        });
        self::assertInstanceOf(LoginThrottlingListener::class, $container->get('public.' . self::LOGIN_LISTENER));
    }

    public function testCompoundsOfSymfonyAreAllOrNothing(): void
    {
        if (!class_exists(SymfonyCompoundFactory::class)) {
            self::markTestSkipped('This Symfony has no policy "compound".');
        }
        $configure = static function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', ['rate_limiter' => ['both' => ['policy' => 'compound', 'limiters' => ['search', 'code']]]]);
            $container->setAlias('public.limiter.both', 'limiter.both')->setPublic(true);
        };
        $container = $this->container(['storage' => 'array:'], $configure);
        $both = $container->get('public.limiter.both')->create('compound');
        self::assertInstanceOf(CompoundLimiter::class, $both);
        self::assertTrue($both->consume(2)->isAccepted());
        self::assertFalse($both->consume()->isAccepted());
        self::assertSame(3, $container->get('public.limiter.search')->create('compound')->consume(0)->getRemainingTokens());

        $container = $this->container(['left_to_symfony' => ['code']], $configure);
        self::assertInstanceOf(SymfonyCompoundFactory::class, $container->get('public.limiter.both'));
    }

    public function testPermitsOfARequestAreGivenBackWhenTheKernelTerminates(): void
    {
        $limit = new ConcurrencyLimit('array:', uniqid('report', true), 1);
        $kernel = $this->kernel();
        $kept = [];
        foreach ([1, 2] as $ignored) {
            $request = Request::create('/none');
            $response = $kernel->handle($request);
            $kept[] = $limit->acquire();
            self::assertSame(1, $limit->getActive());
            $kernel->terminate($request, $response);
            self::assertSame(0, $limit->getActive());
        }
        self::assertCount(2, array_filter($kept));
    }

    public function testTheAttributeOfSymfonyLimitsAController(): void
    {
        if (!class_exists(RateLimit::class)) {
            self::markTestSkipped('This Symfony has no #[RateLimit].');
        }
        $kernel = $this->kernel(['storage' => 'array:']);
        $get = static fn (): Response => $kernel->handle(Request::create('/attribute'));
        for ($i = 0; $i < 5; $i++) {
            self::assertSame(200, $get()->getStatusCode());
        }
        $denied = $get();
        self::assertSame(429, $denied->getStatusCode());
        self::assertThat((int) $denied->headers->get('Retry-After'), self::logicalAnd(self::greaterThan(0), self::lessThanOrEqual(721)));
        $limiter = $kernel->getContainer()->get('public.limiter.search')->create('127.0.0.1~/attribute');
        self::assertInstanceOf(Limiter::class, $limiter);
        self::assertFalse($limiter->consume()->isAccepted());
    }
}
