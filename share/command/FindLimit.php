<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\Command\FindLimit\ClientKey;
use TokenBucket\Command\FindLimit\Copies;
use TokenBucket\Command\FindLimit\Findings;
use TokenBucket\Command\FindLimit\FormatString;
use TokenBucket\Command\FindLimit\HitCollector;
use TokenBucket\Command\FindLimit\HtmlReport;
use TokenBucket\Command\FindLimit\LogInput;
use TokenBucket\Command\FindLimit\LogReading;
use TokenBucket\Command\FindLimit\Passes;
use TokenBucket\Command\FindLimit\ProgressBar;
use TokenBucket\Command\FindLimit\Question;
use TokenBucket\Command\FindLimit\Rate;
use TokenBucket\Command\FindLimit\ReportWriter;
use TokenBucket\Command\FindLimit\RequestPattern;
use TokenBucket\Command\FindLimit\Rights;
use TokenBucket\Command\FindLimit\TestClockProcess;
use TokenBucket\Command\FindLimit\TextReport;
use TokenBucket\Command\FindLimit\Volumes;

/**
 * Replays access logs through candidate limits, and suggests some.
 *
 * @phpstan-import-type Report from Findings
 */
final class FindLimit implements Command
{
    private const RATES = '10/s,1/s,10/min,1/min,10/h,1/h';
    private const CAPACITIES = '1,3,10,30,100,300,1000';
    private const DENY_SHARE = '0.1';
    private const MOST_CAPACITY = 2_147_483_647;
    private const MOST_CANDIDATES = 50;

    public static function options(): array
    {
        return [
            new Option('match', "'POST /login'", 'Count only these; * and $ as in robots.txt; repeatable', true),
            new Option('client', 'PLACE', "The place of the client's address (found)", true),
            new Option('time', 'PLACE', 'The same of the time'),
            new Option('request', 'PLACE', 'The same of the request, or "METHOD and PATH"'),
            new Option('format', 'FORMAT', 'Of nginx or Apache, combined, common or json (found)'),
            new Option('proxies', 'LIST', 'Your proxies, which are no clients'),
            new Option('by', 'WHAT', 'address, network (default), user, or field:NAME of JSON'),
            new Option('ipv6-bits', 'N', 'Length of an IPv6 network (64)'),
            new Option('ipv4-bits', 'N', 'Length of an IPv4 network (32)'),
            new Option('deny-share', 'PERCENT', 'Clients that a suggestion may deny something (' . self::DENY_SHARE . ')'),
            new Option('rates', 'LIST', self::RATES),
            new Option('capacities', 'LIST', 'Choose among these (any; the table shows some)'),
            new Option('html', 'FILE', 'Write a report with plots'),
        ];
    }

    public static function notes(): string
    {
        return "LOG is a file, also .gz, or - for standard input. Where its lines have what is\n"
            . "found, and printed; if that is not clear, you are asked. A suggestion is, for\n"
            . "each rate, the smallest capacity that denies something to few enough clients.";
    }

    public function run(Arguments $arguments): int
    {
        $pattern = new RequestPattern($arguments->values('match'));
        $key = ClientKey::from(
            $arguments->value('by') ?? 'network',
            $arguments->has('proxies') ? self::listOf((string) $arguments->value('proxies')) : [],
            $arguments->integer('ipv6-bits', 64, 1, 128),
            $arguments->integer('ipv4-bits', 32, 1, 32),
        );
        $rates = $this->rates($arguments);
        $capacities = $this->capacities($arguments);
        $deny_share = $this->denyShare($arguments);
        $format = $arguments->value('format');
        if ($format !== null && $format !== 'json') {
            FormatString::compile($format, $key->isAddress());
        }
        $this->checkFiles($arguments->operands, $arguments->value('html'));
        // An extension may be loaded and its functions disabled.
        $needed = ['pcntl_exec' => 'pcntl', 'inflate_init' => 'zlib'] + ($arguments->has('html') && Rights::areRoots() ? ['pcntl_fork' => 'pcntl'] : []);
        foreach ($needed as $function => $extension) {
            if (!function_exists($function)) {
                throw new CommandError("find-limit needs PHP's extension $extension, and its function $function()");
            }
        }
        TestClockProcess::ensure();
        // The bound is the machine's: what is kept is small, but for a client with very many requests.
        ini_set('memory_limit', '-1');

        $writer = $arguments->has('html') ? new ReportWriter((string) $arguments->value('html')) : null;
        $logs = array_map(static fn (string $path): LogInput => new LogInput($path), $arguments->operands);
        $progress = new ProgressBar();
        try {
            $passes = new Passes($progress);
            Rights::drop();
            $copies = new Copies();
            $readings = $warnings = [];
            $said = ['client' => $arguments->values('client'), 'time' => $arguments->values('time'), 'request' => $arguments->values('request')];
            foreach ($logs as $number => $log) {
                $lines = $log->firstLines($pattern);
                $copy = $lines === [] ? null : $copies->find($number, $log);
                if ($copy !== null) {
                    $warnings[] = "$log->name has the lines of $copy->name once more; they are counted once";
                } elseif ($lines !== []) {
                    $readings[$number] = new LogReading($log, $lines, $format, $key, $pattern, $said);
                }
            }
            $hits = $passes->read($readings, $copies, $pattern);
            $doubts = array_merge(...array_map(static fn (LogReading $reading): array => $reading->doubts(), array_values($readings)));
            $this->checkHits($hits, $logs, $pattern, $key);
            $volumes = $passes->volumes();
            $doubts = $this->doubts($doubts, $volumes, $key, $said['client'] !== [], $readings);
            $survey = $passes->survey($rates, $hits->last - $hits->first, $volumes);
            $findings = new Findings($survey, $rates, $capacities, $arguments->has('capacities'), $deny_share);
            $denied = $passes->deniedRequests($rates, $findings->capacities());
        } finally {
            $progress->clear();
        }
        /** @var Report $report */
        $report = [
            'logs' => array_map(static fn (LogInput $log): string => $log->name, $logs),
            'read_as' => array_merge(...array_map(static fn (LogReading $reading): array => $reading->description, array_values($readings))),
            'warnings' => array_values(array_filter([...$warnings, ...array_map(static fn (LogInput $log): ?string => $log->warning, $logs)])),
            'doubts' => $doubts,
            'match' => $pattern->patterns,
            'by' => $key->by,
        ] + $findings->report($denied, $hits, $this->sectionName($pattern));

        foreach ([...$report['warnings'], ...$report['doubts']] as $warning) {
            fwrite(STDERR, "token-bucket: $warning\n");
        }
        $failure = $writer?->write(HtmlReport::render($report));
        if ($failure !== null) {
            throw new CommandError('--html: cannot write ' . Text::printable((string) $arguments->value('html')) . ': ' . Text::printable($failure));
        }
        echo $arguments->has('json') ? Text::json($report) : TextReport::render($report);
        return Application::SUCCESS;
    }

    /** @return list<Rate> */
    private function rates(Arguments $arguments): array
    {
        $rates = array_map([Rate::class, 'fromText'], array_values(array_unique(self::listOf($arguments->value('rates') ?? self::RATES))));
        if (count($rates) > self::MOST_CANDIDATES) {
            throw new UsageError('--rates may have ' . self::MOST_CANDIDATES . ' rates at most');
        }
        return $rates;
    }

    /** @return list<int> at least one */
    private function capacities(Arguments $arguments): array
    {
        $capacities = [];
        foreach (self::listOf($arguments->value('capacities') ?? self::CAPACITIES) as $text) {
            $capacity = filter_var($text, FILTER_VALIDATE_INT, ['options' => ['min_range' => 1, 'max_range' => self::MOST_CAPACITY]]);
            if ($capacity === false) {
                throw new UsageError('--capacities must be whole numbers with commas between, such as 5,10,20; "' . Text::printable($text) . '" is none');
            }
            $capacities[] = $capacity;
        }
        if (count($capacities) > self::MOST_CANDIDATES) {
            throw new UsageError('--capacities may have ' . self::MOST_CANDIDATES . ' numbers at most');
        }
        sort($capacities);
        return array_values(array_unique($capacities));
    }

    private function denyShare(Arguments $arguments): float
    {
        $text = $arguments->value('deny-share') ?? self::DENY_SHARE;
        if (!preg_match('~^\d{1,3}(\.\d{1,6})?$~D', $text) || (float) $text > 100) {
            throw new UsageError('--deny-share must be a percentage from 0 to 100, such as 0.1; it is "' . Text::printable($text) . '"');
        }
        return (float) $text;
    }

    /** @param list<string> $paths */
    private function checkFiles(array $paths, ?string $report): void
    {
        if ($paths === []) {
            throw new UsageError('no log is named; name access logs, or - for standard input');
        }
        if (count(array_keys($paths, '-', true)) > 1) {
            throw new UsageError('- is named twice; standard input can be read once');
        }
        if ($report === '' || ($report !== null && file_exists($report) && !is_file($report))) {
            throw new UsageError('--html must name a file; it is "' . Text::printable($report) . '"');
        }
        foreach ($paths as $path) {
            if ($report !== null && $path !== '-' && realpath($path) !== false && realpath($path) === realpath($report)) {
                throw new UsageError('--html names a log, ' . Text::printable($path) . ', which the report would replace');
            }
        }
    }

    /** @param list<LogInput> $logs */
    private function checkHits(HitCollector $hits, array $logs, RequestPattern $pattern, ClientKey $key): void
    {
        if ($hits->requests > 0) {
            return;
        }
        $names = implode(', ', array_map(static fn (LogInput $log): string => $log->name, $logs));
        $warnings = implode('', array_map(static fn (LogInput $log): string => $log->warning === null ? '' : "\n$log->warning", $logs));
        if ($hits->lines === 0) {
            throw new CommandError("$names: no lines in it" . $warnings);
        }
        if ($hits->withoutClient > 0 && !$key->isAddress()) {
            throw new CommandError("$names: $hits->withoutClient lines match, but none of them names a client by " . Text::printable($key->by) . $warnings);
        }
        $patterns = implode(' or ', array_map([Text::class, 'printable'], $pattern->patterns));
        throw new CommandError("$names: none of $hits->lines lines matches $patterns ($hits->broken broken lines)" . $warnings);
    }

    /**
     * What a person has to look at: in place of a report, or beside it if a person has said which place is the client's.
     *
     * @param list<string>           $doubts   of each log
     * @param array<int, LogReading> $readings at least one
     *
     * @return list<string>
     */
    private function doubts(array $doubts, Volumes $volumes, ClientKey $key, bool $is_said, array $readings): array
    {
        $doubt = $key->isAddress() ? $volumes->doubt() : null;
        if ($doubt !== null) {
            $doubts[] = "$doubt: these look like proxies.\nIf they are your clients, say where they stand: --client " . Question::quoted(current($readings)->clientPlace());
        }
        return $doubts === [] || $is_said ? $doubts : throw new UsageError(implode("\n", $doubts));
    }

    /** A name for limits.ini, that of a limit to try: the last word of the first path often is the name of the limit in force. */
    private function sectionName(RequestPattern $pattern): string
    {
        preg_match_all('~[a-z][a-z0-9_]*~', strtolower(strstr($pattern->patterns[0] ?? '', '/') ?: ''), $words);
        return (end($words[0]) ?: 'page') . '_trial';
    }

    /** @return list<string> */
    private static function listOf(string $text): array
    {
        return array_map('trim', explode(',', $text));
    }
}
