--TEST--
CalendarWindow: Parameters are correctly validated
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\CalendarWindow;

thrown(
    fn () => new CalendarWindow,
    fn () => new CalendarWindow('array:', 'x', 1),
    fn () => new CalendarWindow('array:', '', 1, 'day'),
    fn () => new CalendarWindow('array:', 'x', 0, 'day'),
    fn () => new CalendarWindow('array:', 'x', 16_777_215, 'day'),
    fn () => new CalendarWindow('array:', 'x', 'many', 'day'),
    fn () => new CalendarWindow('array:', 'x', 1, 'minute'),
    fn () => new CalendarWindow('array:', 'x', 1, ''),
    fn () => new CalendarWindow('array:', 'x', 1, 'day', ''),
    fn () => new CalendarWindow('array:', 'x', 1, 'day', 'Europe/Atlantis'),
    fn () => new CalendarWindow('array:', 'x', 1, 'day', "UTC\0"),
    fn () => new CalendarWindow('array:', 'x', 1, 'day', 'UTC', []),
    fn () => new CalendarWindow('nowhere:', 'x', 1, 'day'),
    fn () => new CalendarWindow(new MemoryStorage, 'x', 1, 'day'),
    fn () => clone new CalendarWindow('array:', 'x', 1, 'day'),
    fn () => (new CalendarWindow('array:', 'x', 1, 'day'))->attempt(-1),
);
?>
--EXPECT--
ArgumentCountError: TokenBucket\CalendarWindow::__construct() expects at least 4 arguments, 0 given
ArgumentCountError: TokenBucket\CalendarWindow::__construct() expects at least 4 arguments, 3 given
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #3 ($limit) must be between 1 and 16777214
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #3 ($limit) must be between 1 and 16777214
TypeError: TokenBucket\CalendarWindow::__construct(): Argument #3 ($limit) must be of type int, string given
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #4 ($unit) must be "hour", "day", "week", "month" or "year"
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #4 ($unit) must be "hour", "day", "week", "month" or "year"
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #5 ($timezone) must be "UTC", an offset such as "+01:00", or a place that PHP knows, such as "Europe/Berlin"
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #5 ($timezone) must be "UTC", an offset such as "+01:00", or a place that PHP knows, such as "Europe/Berlin"
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #5 ($timezone) must be "UTC", an offset such as "+01:00", or a place that PHP knows, such as "Europe/Berlin"
TypeError: TokenBucket\CalendarWindow::__construct(): Argument #6 ($name) must be of type ?string, array given
TokenBucket\ConfigurationException: Unknown scheme "nowhere:" in the storage DSN, known are shm:, array:, redis:, rediss:, redis+unix:, redis+cluster:, rediss+cluster:, redis+sentinel:, rediss+sentinel:, memcached:, memcached+unix:, mysql:, mysql+unix:; the first argument is the storage, the second the identifier
ValueError: TokenBucket\CalendarWindow::__construct(): Argument #1 ($storage) must not be a storage written in PHP: TokenBucketStorage supports token buckets only
Error: Trying to clone an uncloneable object of class TokenBucket\CalendarWindow
ValueError: TokenBucket\CalendarWindow::attempt(): Argument #1 ($tokens) must be greater than or equal to 0
