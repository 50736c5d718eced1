<?php
/*
 * The page of a small shop: 120 articles, sorted, priced and escaped, in a template; behind a limiter or none.
 */

require __DIR__ . '/limit.php';

if (!is_admitted($_GET['limiter'] ?? 'none', $_SERVER['REMOTE_ADDR'] ?? '127.0.0.1')) {
    http_response_code(429);
    exit('Too many requests.');
}

$words = ['blue', 'large', 'oak', 'chair', 'lamp', 'garden', 'wool', 'blanket', 'tea', 'pot', 'small', '<new>', 'glass & steel'];
$articles = [];
for ($i = 1; $i <= 120; $i++) {
    $name = ucwords($words[$i * 7 % 13] . ' ' . $words[$i * 5 % 13] . ' ' . $words[$i * 3 % 13]);
    $articles[] = [
        'name' => $name,
        'slug' => trim(strtr(strtolower($name), ' <>&', '----'), '-') . "-$i",
        'price' => ($i * 7919) % 25_000,
        'text' => wordwrap(str_repeat("$name, made to last. ", 4), 60),
        'code' => substr(hash('sha256', $name . $i), 0, 12),
    ];
}
usort($articles, fn ($a, $b) => [$a['price'], $a['name']] <=> [$b['price'], $b['name']]);

require __DIR__ . '/template.php';
