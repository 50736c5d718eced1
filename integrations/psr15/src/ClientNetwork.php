<?php

declare(strict_types=1);

namespace TokenBucket\Psr15;

use Psr\Http\Message\ServerRequestInterface;

use function TokenBucket\client_address;
use function TokenBucket\client_network;

/**
 * Names the client of a request by its network: an IPv4 address, or an IPv6 /64.
 *
 *     new RateLimitMiddleware($limit, $responses, new ClientNetwork(['10.0.0.0/8']))
 */
final class ClientNetwork
{
    /**
     * @param array<string> $trustedProxies the addresses and networks of your proxies, whose X-Forwarded-For is believed
     *
     * @throws \ValueError if one is not an address or a network
     * @throws \LogicException without the extension token_bucket
     */
    public function __construct(private readonly array $trustedProxies = [])
    {
        Extension::check();
        // A mistake among the proxies shows here instead of at the first request.
        client_address(['REMOTE_ADDR' => '192.0.2.1'], $trustedProxies);
    }

    public function __invoke(ServerRequestInterface $request): string
    {
        // The header is the request's own, for not every server copies it into the server parameters.
        $server = ['REMOTE_ADDR' => $request->getServerParams()['REMOTE_ADDR'] ?? ''];
        if ($request->hasHeader('X-Forwarded-For')) {
            $server['HTTP_X_FORWARDED_FOR'] = $request->getHeaderLine('X-Forwarded-For');
        }
        return client_network(client_address($server, $this->trustedProxies));
    }
}
