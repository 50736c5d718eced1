<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** The parts of a line of text, as regular expressions. */
final class LinePart
{
    /** A quoted text, without its quotes. */
    public const QUOTED = '[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+';
    /** No blank is in a word, unless it is in quotes or brackets, or a list with commas. */
    public const WORD = '(?:"' . self::QUOTED . '"\S*+|\[[^\]]*+\]\S*+|(?:\S++(?<=,)\s++)*+\S++)';
    /** An address, or a list of them with commas. */
    public const ADDRESSES = '(?:[^\s"]++(?<=,)\s++)*+[^\s"]++';
    /** Times with a date, in order of preference: a program that puts its own time before a line uses ISO 8601. */
    public const TIMES = [
        'common' => '\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d(?:\.\d+)?+(?: [+-]\d{4})?+',
        'iso' => '\d{4}-\d\d-\d\d[T\s]\d\d:\d\d:\d\d(?:[.,]\d+)?+(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?+',
        'number' => '(?<![\w.:/-])1\d{9}(?:\.\d{1,9}|\d{9}|\d{6}|\d{3})?+(?![\w.])',
    ];
    public const QUOTED_REQUEST = '(?<![^\s|,([{])"(' . self::METHODS . ' ' . self::QUOTED . ')"';
    /** The method and the path. */
    public const BARE_REQUEST = '(?<![^\s|])"?+(' . self::METHODS . ')"?+[\s|]+"?+((?:/|\*|https?://)[^\s"]*+)"?+';
    private const METHODS = '(?:GET|POST|HEAD|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE|PROPFIND|PROPPATCH|REPORT|MKCOL|COPY|MOVE|LOCK|UNLOCK|PURGE)';
    /** The begin of a quoted user agent. */
    public const USER_AGENT = '"(?:Mozilla|[A-Za-z][\w.-]*/\d)';
}
