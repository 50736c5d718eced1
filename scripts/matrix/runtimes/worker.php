<?php
// FrankenPHP's worker mode: one script serves many requests. It ends after a hundred or more, and FrankenPHP begins it anew.
require __DIR__ . '/application.inc';
ignore_user_abort(true);
$handler = static function (): void {
    [$status, $body] = answer($_GET);
    http_response_code($status);
    echo $body;
};
$most = (int) (getenv('TB_REQUESTS_OF_A_WORKER') ?: random_int(100, 200));
while (frankenphp_handle_request($handler) && Kept::$served < $most) {
}
