<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** The options and operands of one call. */
final class Arguments
{
    /**
     * @param array<string, list<string>> $values   of each option that was given
     * @param list<string>                $operands what is no option
     */
    private function __construct(private array $values, public readonly array $operands)
    {
    }

    /**
     * Reads words such as `--by network`, `--by=network`, `--json`. `--` ends the options; `-` alone is an operand.
     *
     * @param list<string> $words
     * @param list<Option> $options
     *
     * @throws UsageError for an option that is unknown, lacks its value, has one too many, or is repeated
     */
    public static function parse(array $words, array $options): self
    {
        $known = array_column($options, null, 'name');
        $values = [];
        $operands = [];
        while ($words !== []) {
            $word = array_shift($words);
            if ($word === '--') {
                array_push($operands, ...$words);
                break;
            }
            if ($word === '-' || !str_starts_with($word, '-')) {
                $operands[] = $word;
                continue;
            }
            $parts = explode('=', $word, 2);
            $name = substr($parts[0], 2);
            $value = $parts[1] ?? null;
            $option = str_starts_with($word, '--') ? $known[$name] ?? null : null;
            if ($option === null) {
                throw new UsageError('unknown option ' . Text::printable($parts[0]) . Suggestion::among($name, array_keys($known), '--'));
            }
            if ($option->value === null && $value !== null) {
                throw new UsageError("--$name takes no value");
            }
            if ($option->value !== null && $value === null) {
                $value = array_shift($words) ?? throw new UsageError("--$name lacks its value: {$option->synopsis()}");
            }
            if (isset($values[$name]) && $option->value !== null && !$option->repeatable) {
                throw new UsageError("--$name is given twice");
            }
            $values[$name][] = $value ?? '';
        }
        return new self($values, $operands);
    }

    public function has(string $name): bool
    {
        return isset($this->values[$name]);
    }

    /** @return list<string> */
    public function values(string $name): array
    {
        return $this->values[$name] ?? [];
    }

    public function value(string $name): ?string
    {
        return $this->values[$name][0] ?? null;
    }

    /** @throws UsageError if the option was given, and not as a whole number within the bounds */
    public function integer(string $name, int $default, int $least, int $most): int
    {
        $text = $this->value($name);
        $number = $text === null ? $default : filter_var($text, FILTER_VALIDATE_INT);
        if (!is_int($number) || $number < $least || $number > $most) {
            throw new UsageError("--$name must be a whole number from $least to $most; it is \"" . Text::printable((string) $text) . '"');
        }
        return $number;
    }
}
