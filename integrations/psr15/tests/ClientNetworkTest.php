<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Nyholm\Psr7\ServerRequest;
use PHPUnit\Framework\TestCase;
use TokenBucket\Psr15\ClientNetwork;

final class ClientNetworkTest extends TestCase
{
    public function test_client_is_an_ipv4_address_or_an_ipv6_network(): void
    {
        self::assertSame('192.0.2.1', (new ClientNetwork())($this->request('192.0.2.1')));
        self::assertSame('2001:db8:1:2::/64', (new ClientNetwork())($this->request('2001:db8:1:2:3:4:5:6')));
    }

    public function test_forwarded_address_counts_only_behind_a_trusted_proxy(): void
    {
        $behindProxy = new ClientNetwork(['10.0.0.0/8']);

        self::assertSame('198.51.100.7', $behindProxy($this->request('10.0.0.5', '203.0.113.1, 198.51.100.7')));
        self::assertSame('192.0.2.1', $behindProxy($this->request('192.0.2.1', '198.51.100.7')));
        self::assertSame('10.0.0.5', (new ClientNetwork())($this->request('10.0.0.5', '198.51.100.7')));
    }

    public function test_several_forwarded_fields_are_read_as_one(): void
    {
        $request = $this->request('10.0.0.5', '203.0.113.1')->withAddedHeader('X-Forwarded-For', '198.51.100.7');

        self::assertSame('198.51.100.7', (new ClientNetwork(['10.0.0.0/8']))($request));
    }

    public function test_requests_without_an_address_share_one_client(): void
    {
        self::assertSame('unknown', (new ClientNetwork())(new ServerRequest('GET', '/')));
        self::assertSame('unknown', (new ClientNetwork())($this->request('no address')));
    }

    public function test_proxy_that_is_no_network_is_refused_at_once(): void
    {
        $this->expectException(\ValueError::class);
        $this->expectExceptionMessage('10.0.0.0/99');
        new ClientNetwork(['10.0.0.0/99']);
    }

    private function request(string $address, ?string $forwardedFor = null): ServerRequest
    {
        $headers = $forwardedFor === null ? [] : ['X-Forwarded-For' => $forwardedFor];
        return new ServerRequest('GET', '/', $headers, null, '1.1', ['REMOTE_ADDR' => $address]);
    }
}
