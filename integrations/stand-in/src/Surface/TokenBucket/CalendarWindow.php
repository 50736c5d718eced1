<?php

declare(strict_types=1);

namespace TokenBucket;

final class CalendarWindow implements Limiter
{
    use StandIn\LimiterMethods;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        string $unit,
        string $timezone = 'UTC',
        ?string $name = null,
    ) {
        func_num_args() > 6 && StandIn\Thrown::tooMany(func_num_args());
        $backend = StandIn\Limiter::ofArgument($storage);
        if (!$backend instanceof StandIn\Limiter) {
            throw StandIn\Thrown::value(1, 'must not be a storage written in PHP: TokenBucketStorage supports token buckets only');
        }
        StandIn\Calendar::isUnit($unit) || throw StandIn\Thrown::value(4, 'must be ' . StandIn\Calendar::UNITS);
        try {
            $window = new StandIn\CalendarWindow($limit);
        } catch (StandIn\LimitError $e) {
            throw StandIn\Thrown::limit($e, 3, 4);
        }
        $calendar = StandIn\Calendar::find($unit, $timezone)
            ?? throw StandIn\Thrown::value(5, 'must be a time zone that PHP knows, such as "UTC" or "Europe/Berlin"');
        $arguments = ['limit' => $limit, 'unit' => $unit, 'timezone' => $calendar->zone->getName()];
        $identifier = StandIn\Thrown::unlessIdentifier($identifier);
        $this->value = new StandIn\LimiterValue($backend, $identifier, $window, $arguments, $name, calendar: $calendar);
    }
}
