<?php
/*
 * Counts what passed, and prints each failure and one line for each part of the tests.
 */
declare(strict_types=1);

final class Report
{
    private int $passed = 0;
    private int $failed = 0;
    private int $passed_before = 0;

    public function expect(string $what, mixed $expected, mixed $actual): void
    {
        if ($actual === $expected) {
            $this->passed++;
            return;
        }
        $this->failed++;
        $text = fn (mixed $value): string => is_string($value) ? $value : json_encode($value, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE);
        echo "FAIL $what\n  expected: {$text($expected)}\n  got:      {$text($actual)}\n";
    }

    public function end_part(string $title): void
    {
        printf("%s: %d passed\n", $title, $this->passed - $this->passed_before);
        $this->passed_before = $this->passed;
    }

    /** Prints the closing line; returns whether all passed. */
    public function end(): bool
    {
        echo "$this->passed passed, $this->failed failed, 0 skipped\n";
        return $this->passed > 0 && $this->failed === 0;
    }
}
