<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\Calendar;
use TokenBucket\StandIn\Internal\Limiter as Backend;
use TokenBucket\StandIn\Internal\LimiterMethods;
use TokenBucket\StandIn\Internal\LimiterValue;
use TokenBucket\StandIn\Internal\Thrown;
use TokenBucket\StandIn\Limit\CalendarWindow as Limit;
use TokenBucket\StandIn\Limit\LimitError;

final class CalendarWindow implements Limiter
{
    use LimiterMethods;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        string $unit,
        string $timezone = 'UTC',
        ?string $name = null,
    ) {
        func_num_args() > 6 && Thrown::tooMany(func_num_args());
        $backend = Backend::ofArgument($storage);
        if (!$backend instanceof Backend) {
            throw Thrown::value(1, 'must not be a storage written in PHP: TokenBucketStorage supports token buckets only');
        }
        Calendar::isUnit($unit) || throw Thrown::value(4, 'must be ' . Calendar::UNITS);
        try {
            $window = new Limit($limit);
        } catch (LimitError $e) {
            throw Thrown::limit($e, 3, 4);
        }
        $calendar = Calendar::find($unit, $timezone)
            ?? throw Thrown::value(5, 'must be a time zone that PHP knows, such as "UTC" or "Europe/Berlin"');
        $arguments = ['limit' => $limit, 'unit' => $unit, 'timezone' => $calendar->zone->getName()];
        $identifier = Thrown::unlessIdentifier($identifier);
        $this->value = new LimiterValue($backend, $identifier, $window, $arguments, $name, calendar: $calendar);
    }
}
