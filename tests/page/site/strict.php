<?php
/** As applications have it: a warning of the page is an error. */
set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    return error_reporting() & $level ? throw new ErrorException($message, 0, $level, $file, $line) : false;
});
