<?php

namespace TokenBucket;

/**
 * Leaves a server out of status() and prometheus() until a call needs it again: one that is down and no longer configured, which
 * would leave by itself five minutes after the last call.
 *
 * @param string $server its name in status()
 *
 * @return bool whether there was a server of this name
 */
function forget_server(string $server): bool {}
