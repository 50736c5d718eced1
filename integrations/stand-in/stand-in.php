<?php

/*
 * The classes and functions of the extension token_bucket in plain PHP, where the extension is not loaded. README.md tells how they differ.
 */

declare(strict_types=1);

if (extension_loaded('token_bucket')) {
    return;
}

if (PHP_INT_SIZE < 8) {
    throw new RuntimeException('The stand-in of token_bucket needs a PHP of 64 bits: its times are nanoseconds');
}
spl_autoload_register(static function (string $class): void {
    // The files of src and their classes, in the namespace TokenBucket but for the first two.
    static $files = [
        'classic' => ['TokenBucket', 'TokenBucketStorage'],
        'limiters' => [
            'Limiter', 'LeakyBucket', 'FixedWindow', 'SlidingWindow', 'CalendarWindow', 'StandIn\LimiterMethods', 'StandIn\TakesUpTo',
            'StandIn\Reserves', 'StandIn\CountsInAnInterval',
        ],
        'limiter_value' => ['StandIn\LimiterValue'],
        'sets' => ['Compound', 'FirstOf', 'StandIn\SetValue', 'StandIn\SetMethods', 'StandIn\JointCall'],
        'permits' => ['ConcurrencyLimit', 'Permit', 'StandIn\PermitsValue', 'StandIn\PermitValue'],
        'decisions' => ['Decision', 'StandIn\LimitDecision', 'StandIn\DecisionValue'],
        'storages' => [
            'SharedMemoryStorage', 'ArrayStorage', 'RedisStorage', 'MemcachedStorage', 'MysqlStorage', 'StandIn\StorageValue', 'StandIn\CarriesStorage',
            'StandIn\NeedsServer',
        ],
        'php_bucket' => ['Bootstrap', 'StandIn\PhpBucket'],
        'clock' => ['TestClock', 'StandIn\Clock'],
        'errors' => [
            'TokenBucketException', 'ConfigurationException', 'StorageException', 'LimitExceededException', 'StandIn\Doubt', 'StandIn\Wrong',
            'StandIn\LimitError',
        ],
        'values' => ['StandIn\Value', 'StandIn\CarriesValue', 'StandIn\HasNoOtherProperties'],
        'messages' => ['StandIn\Mistake', 'StandIn\Thrown', 'StandIn\Text'],
        'settings' => ['StandIn\Settings'],
        'dsn' => ['StandIn\Dsn'],
        'address' => ['StandIn\Address'],
        'named_limits' => ['StandIn\NamedLimits', 'StandIn\LimitsFile'],
        'section' => ['StandIn\Section'],
        'clients' => ['StandIn\Clients'],
        'limiter' => ['StandIn\Limiter'],
        'stores' => ['StandIn\ArrayStore', 'StandIn\FileStore', 'StandIn\FileShelf', 'StandIn\Transaction'],
        'limit/limit' => ['StandIn\Limit', 'StandIn\Moment'],
        'limit/op' => ['StandIn\Op', 'StandIn\Answer', 'StandIn\State', 'StandIn\Block'],
        'limit/token_bucket' => ['StandIn\TokenBucket'],
        'limit/interval' => ['StandIn\Interval'],
        'limit/gcra' => ['StandIn\Gcra'],
        'limit/emptied' => ['StandIn\Emptied', 'StandIn\Reach'],
        'limit/reserved' => ['StandIn\Reserved', 'StandIn\Refills'],
        'limit/window' => ['StandIn\Window', 'StandIn\WindowMoment', 'StandIn\FixedWindow', 'StandIn\CalendarWindow', 'StandIn\Calendar'],
        'limit/sliding_window' => ['StandIn\SlidingWindow', 'StandIn\SlidingMoment'],
    ];
    $name = preg_replace('/^TokenBucket\\\\/', '', $class);
    foreach (str_starts_with($class, 'TokenBucket') ? $files : [] as $file => $classes) {
        if (in_array($name, $classes, true)) {
            require __DIR__ . "/src/$file.php";
            return;
        }
    }
});
// Functions that opcache.preload has declared stay, while the autoloader ends with each request.
if (!function_exists('TokenBucket\limiter')) {
    require __DIR__ . '/src/functions.php';
}
if (!function_exists('ini_get') || ini_get('disable_functions') !== '') {
    require __DIR__ . '/src/disabled.php';
}
