<?php
/*
 * The clients of the measurements.
 */

/** An IPv4 address's bucket, another for each number. */
function client_name(int $number): string
{
    // An odd factor: no two numbers have one address.
    return 'login:' . long2ip(($number * 0x9E3779B1) & 0xFFFFFFFF);
}
