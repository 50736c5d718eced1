<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Makes a regular expression of the columns in which lines have their parts. */
final class ColumnExpression
{
    /** A quoted request is found by its place if it has that in so many lines; else by its method. */
    private const STEADY_SHARE = 0.95;

    /**
     * @param non-empty-list<LineWords> $lines
     * @param array<string, int>        $columns   of address and forwarded
     * @param string                    $time_kind a key of LinePart::TIMES
     */
    public static function compile(array $lines, array $columns, string $time_kind, bool $is_quoted): TextFormat
    {
        $agent = self::agentColumn($lines);
        $gaps = self::gaps($lines, $columns + ($agent === null ? [] : ['agent' => $agent]));
        $parts = array_keys($gaps);
        $required = count(array_intersect($parts, ['time', 'request', 'address']));
        $expression = '~^';
        $end = '~';
        $groups = $places = [];
        $position = -1;
        foreach ($gaps as $part => [$gap, $share]) {
            $position += $gap + 1;
            $places[$part] = LineWords::ordinal($position);
            $skip = $gap === 0 ? '\s*+' : '(?:\s*+' . LinePart::WORD . "){{$gap}}\\s*+";
            if ($required === 0) {
                // Lines may end before it.
                $expression .= '(?:';
                $end = ')?+' . $end;
            }
            $required -= in_array($part, ['time', 'request', 'address'], true) ? 1 : 0;
            if ($part === 'address' || $part === 'forwarded') {
                $expression .= $skip . '"?+(' . LinePart::ADDRESSES . ')"?+';
                $groups[] = $part;
            } elseif ($part === 'agent') {
                $expression .= $skip . '"(' . LinePart::QUOTED . ')"';
                $groups[] = 'agent';
            } elseif ($part === 'time') {
                // A user may have blanks and brackets.
                $has_user = $time_kind === 'common' && end($groups) === 'address' && $gap === 2;
                $expression .= ($has_user ? ' ++\S++ (.*?) ' : '.*?') . '["\[]?+(' . LinePart::TIMES[$time_kind] . ')\S*+';
                array_push($groups, ...($has_user ? ['user', 'time'] : ['time']));
            } elseif ($is_quoted) {
                // A request need not be one that is known, such as "-" if nothing was sent.
                $is_steady = $share >= self::STEADY_SHARE && $groups !== [];
                $expression .= ($is_steady ? $skip . '"(' . LinePart::QUOTED . ')"' : '.*?' . LinePart::QUOTED_REQUEST) . '\S*+';
                $groups[] = 'request';
            } else {
                $expression .= '.*?' . LinePart::BARE_REQUEST;
                array_push($groups, 'method', 'uri');
            }
        }
        return new TextFormat($expression . $end, array_combine($groups, range(1, count($groups))), $is_quoted, [
            'client' => implode(' and ', array_intersect_key($places, ['address' => true, 'forwarded' => true])),
            'time' => $places['time'],
            'request' => $places['request'],
        ]);
    }

    /**
     * How many words stand between each part and the one before it, in the order that most lines have, and in which share of them.
     *
     * @param non-empty-list<LineWords> $lines
     * @param array<string, int>        $columns
     *
     * @return array<string, array{int, float}>
     */
    private static function gaps(array $lines, array $columns): array
    {
        $gaps = $orders = [];
        foreach ($lines as $line) {
            $positions = ['time' => $line->time, 'request' => $line->request] + array_map($line->position(...), $columns);
            asort($positions);
            $order = implode(' ', array_keys($positions));
            $orders[] = $order;
            $before = -1;
            foreach ($positions as $part => $position) {
                $gaps[$order][$part][] = $position - $before - 1;
                $before = $position;
            }
        }
        $order = self::mostCommon($orders)[0];
        return array_map(static fn (array $of_part): array => self::mostCommon($of_part), $gaps[$order]);
    }

    /** @param non-empty-list<LineWords> $lines */
    private static function agentColumn(array $lines): ?int
    {
        $columns = [];
        foreach ($lines as $line) {
            $agents = preg_grep('~^' . LinePart::USER_AGENT . '~', $line->columns()) ?: [];
            array_push($columns, ...array_filter(array_keys($agents), static fn (int $column): bool => $column > LineWords::BEHIND_REQUEST));
        }
        return $columns === [] ? null : self::mostCommon($columns)[0];
    }

    /**
     * @template T of int|string
     *
     * @param non-empty-list<T> $values
     *
     * @return array{T, float} the value and its share
     */
    private static function mostCommon(array $values): array
    {
        $counts = array_count_values($values);
        $most = max($counts);
        $value = array_search($most, $counts, true);
        return [$value === false ? $values[0] : $value, $most / count($values)];
    }
}
