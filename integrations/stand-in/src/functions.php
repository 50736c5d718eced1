<?php

declare(strict_types=1);

namespace TokenBucket {

    function client_address(array $server, array $trustedProxies = [], string $header = 'X-Forwarded-For'): string
    {
        func_num_args() > 3 && StandIn\Thrown::tooMany(func_num_args());
        $text = static fn(string $key): ?string => is_string($server[$key] ?? null) ? $server[$key] : null;
        $proxies = StandIn\networks($trustedProxies, 'must be a list of strings', 'addresses, networks like 10.0.0.0/8, and "unix:"', true);
        preg_match('/^(?!forwarded$)[a-z0-9-]+$/Di', $header) === 1
            || throw StandIn\Thrown::value(3, 'must name a header of addresses, such as X-Real-IP');
        $remote = $text('REMOTE_ADDR');
        $forwarded = (string) $text('HTTP_' . strtoupper(strtr($header, '-', '_')));
        $trustsSocket = in_array('unix:', $trustedProxies, true);
        $headers = [
            'HTTP_X_FORWARDED_FOR' => 'X-Forwarded-For', 'HTTP_FORWARDED' => 'Forwarded', 'HTTP_X_REAL_IP' => 'X-Real-IP',
            'HTTP_CF_CONNECTING_IP' => 'CF-Connecting-IP',
        ];
        $given = array_filter($headers, static fn(string $key): bool => $text($key) !== null, ARRAY_FILTER_USE_KEY);
        if ($trustedProxies === [] && $given !== []) {
            StandIn\note_forgotten_proxy((string) $remote, (string) key($given), (string) reset($given));
        } elseif ($forwarded === '' && StandIn\Address::isProxy($remote, $proxies, $trustsSocket)) {
            $others = array_filter($given, static fn(string $key): bool => $text($key) !== '', ARRAY_FILTER_USE_KEY);
            $others === [] || StandIn\note_other_header((string) $remote, (string) reset($others), $header);
        }
        return StandIn\Address::behind($remote, $forwarded, $proxies, $trustsSocket);
    }

    function client_network(string $address, int $ipv6Bits = 64, int $ipv4Bits = 32): string
    {
        func_num_args() > 3 && StandIn\Thrown::tooMany(func_num_args());
        $ipv6Bits >= 1 && $ipv6Bits <= 128 || throw StandIn\Thrown::value(2, 'must be between 1 and 128');
        $ipv4Bits >= 1 && $ipv4Bits <= 32 || throw StandIn\Thrown::value(3, 'must be between 1 and 32');
        $plain = StandIn\Address::withoutPort($address);
        $network = str_contains($plain, '/') ? null : StandIn\Address::parse($plain)?->network($ipv6Bits, $ipv4Bits);
        if ($network === null && StandIn\Mistake::claim('unknown client')) {
            StandIn\Mistake::log('TokenBucket\client_network(): "' . StandIn\Text::cut($address) . '" is not an address, so the client shares the identifier '
                . '"unknown" with all others without one. If a proxy reaches the web server by a unix socket, name "unix:" among the '
                . 'trusted proxies of client_address()');
        }
        return $network ?? 'unknown';
    }

    function in_network(string $address, string|array $networks): bool
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        $list = is_array($networks) ? $networks : preg_split('/[, \t\r\n]+/', $networks, -1, PREG_SPLIT_NO_EMPTY);
        $networks = StandIn\networks($list, 'must be a string or a list of strings', 'addresses and networks like 10.0.0.0/8', false);
        $client = StandIn\Address::ofClient($address);
        return $client !== null && $client->isIn($networks);
    }

    function limiter(string $name, string|array $client): Limiter
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        $limits = StandIn\LimitsFile::limits()->limits;
        $section = StandIn\section($name);
        if ($section->value('algorithm') === 'concurrency') {
            throw StandIn\of_other_kind($section, 'limits how many run at once', 'concurrency_limit');
        }
        if ($section->members === null) {
            is_array($client)
                && throw StandIn\Thrown::value(2, 'must be of type string for a limit of its own, array given', \TypeError::class);
            return StandIn\LimiterValue::wrap($section->className(), $section->limiterValue(StandIn\Thrown::unlessIdentifier($client)));
        }
        $parts = [];
        foreach ($section->members as $i => $member) {
            $own = is_array($client) ? $client[$member] ?? $client[$i] ?? null : StandIn\Thrown::unlessIdentifier($client);
            $own ?? throw StandIn\Thrown::value(2, "must have a client for the limit $member");
            is_string($own) && $own !== '' || throw StandIn\Thrown::value(2, "must have a string for the limit $member");
            $parts[] = $limits[$member]->limiterValue($own);
        }
        if (is_array($client) && count($client) !== count($parts)) {
            throw StandIn\Thrown::value(2, 'must have one client for each of ' . implode(', ', $section->members));
        }
        return StandIn\SetValue::wrap($section->isFirst ? FirstOf::class : Compound::class, new StandIn\SetValue($parts));
    }

    function concurrency_limit(string $name, string $client): ConcurrencyLimit
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        StandIn\Thrown::unlessIdentifier($client);
        $section = StandIn\section($name);
        if ($section->value('algorithm') !== 'concurrency') {
            throw StandIn\of_other_kind($section, 'limits calls', 'limiter');
        }
        return StandIn\PermitsValue::wrap(ConcurrencyLimit::class, $section->permitsValue($client));
    }

    function client_terms(string $name, string $client): ?array
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        $section = StandIn\section($name);
        if ($section->members !== null) {
            $members = implode(' or ', $section->members);
            throw StandIn\Thrown::value(1, "must be a single limit; $name is a set: ask for $members");
        }
        $terms = $section->terms($client);
        if ($terms === null) {
            return null;
        }
        [$file, $line, $count, $interval] = $terms;
        $file ??= StandIn\Settings::get('limits');
        return ['file' => $file, 'line' => $line, 'exempt' => $count === null, 'limit' => $count, 'interval' => $interval];
    }

    function end_request(): void
    {
        func_num_args() > 0 && StandIn\Thrown::tooMany(func_num_args());
        StandIn\PermitValue::releaseAll();
    }

    /* The stand-in counts and logs nothing. */

    function statistics(?string $prefix = null): array { return []; }
    function denials(?string $name = null, ?string $client = null): array { return []; }
    function prometheus(): string { return ''; }

    function reset_statistics(?string $prefix = null): void {}

    function forget_server(string $server): bool { return false; }

    function status(): array
    {
        $empty = array_fill_keys(['shared_memory_errors', 'likely_mistakes', 'limits', 'last_hour', 'denials', 'blocked'], []);
        return ['version' => 'stand-in'] + $empty + ['limits_file' => null]
            + array_fill_keys(['named_limits', 'tables', 'servers', 'directives'], []);
    }
}

namespace TokenBucket\StandIn {
    use TokenBucket\ConfigurationException;

    /**
     * Sets directives, where php.ini cannot be changed: configure(['limits' => '/path/to/limits.ini']).
     *
     * @throws ConfigurationException if a name is unknown or a value is wrong
     */
    function configure(array $directives): void { Settings::configure($directives); }

    /** @internal what of these functions PHP lacks, '' if it has them all */
    function disabled(string ...$functions): string
    {
        $missing = array_filter($functions, static fn(string $name): bool => !function_exists($name));
        return $missing === [] ? '' : 'it needs ' . implode('(), ', $missing) . '(), which disable_functions in php.ini disables';
    }

    /** @internal whether PHP lacks a function, and src/disabled.php has not declared one in its place */
    function is_missing(string $name): bool { return !function_exists($name) && !function_exists(__NAMESPACE__ . "\\$name"); }

    /** @internal the networks in argument 2 */
    function networks(array $list, string $must, string $what, bool $hasSockets): array
    {
        $networks = [];
        foreach ($list as $text) {
            is_string($text) || throw Thrown::value(2, $must, \TypeError::class);
            if ($hasSockets && $text === 'unix:') {
                continue;
            }
            $networks[] = Address::parse($text) ?? throw Thrown::value(2, "must contain $what, \"" . Text::debug($text) . '" given');
        }
        return $networks;
    }

    /** @internal says once in the log that the request has passed a proxy and none is named */
    function note_forgotten_proxy(string $remote, string $key, string $header): void
    {
        $isSocket = $remote === '' || $remote === 'unix:';
        if (!$isSocket && !Address::ofClient($remote)?->isPrivate() || !Mistake::claim('forgotten proxy')) {
            return;
        }
        $what = $isSocket ? 'has no address' : "is $remote, a private address";
        $proxy = $isSocket ? 'unix:' : $remote;
        $send = $key === 'HTTP_X_FORWARDED_FOR' ? '' : ', and have it send X-Forwarded-For';
        Mistake::log("TokenBucket\\client_address(): REMOTE_ADDR $what, and the request has $header, but no proxy is named, so all clients of "
            . "that proxy count as one. Name it: client_address(\$_SERVER, ['$proxy'])$send");
    }

    /** @internal says once in the log that a trusted proxy sends another header than the one that is read */
    function note_other_header(string $remote, string $other, string $header): void
    {
        if (!Mistake::claim('forgotten proxy')) {
            return;
        }
        $or = match ($other) {
            'Forwarded' => '',
            'X-Forwarded-For' => ', or name no header',
            default => ", or, if it replaces $other in every request, name that: client_address(\$_SERVER, [...], '$other')",
        };
        Mistake::log('TokenBucket\client_address(): the proxy ' . ($remote === '' ? 'unix:' : $remote) . " sends $other and not $header, so all "
            . "its clients count as one. Have it send $header$or");
    }

    /** @internal the section of this name in the file of limits */
    function section(string $name): Section
    {
        $limits = LimitsFile::limits()->limits;
        $names = array_map('strval', array_keys($limits));
        $known = implode(', ', count($names) > 20 ? [...array_slice($names, 0, 20), '...'] : $names);
        return $limits[$name] ?? throw Thrown::configuration('token_bucket.limits has no limit "' . Text::cut($name) . "\": must be one of $known");
    }

    /** @internal a ConfigurationException that names the function for the limit */
    function of_other_kind(Section $section, string $what, string $function): \Throwable
    {
        $message = "[$section->name] in token_bucket.limits $what: use TokenBucket\\$function()";
        return Thrown::configuration($message);
    }
}
