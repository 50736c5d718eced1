<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;
final class HtmlReport { public static function render(array $report): string { return ''; } }
