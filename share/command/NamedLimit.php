<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\ConfigurationException;
use TokenBucket\Decision;
use TokenBucket\Limiter;

use function TokenBucket\limiter;

/** The limit or set that a command names, for the client that it names. */
final class NamedLimit
{
    public readonly Limiter $limiter;
    /** For messages. */
    public readonly string $text;

    /**
     * @param list<string> $words NAME CLIENT; for a set one client for all limits, or one for each
     *
     * @throws UsageError if a word is missing or wrong
     * @throws CommandError if the limits cannot be read
     */
    public function __construct(array $words)
    {
        $name = array_shift($words) ?? throw new UsageError('NAME is missing: the name of a limit in the file of token_bucket.limits');
        if ($words === []) {
            throw new UsageError('CLIENT is missing: what the application passes to TokenBucket\limiter(), such as an address');
        }
        $this->text = Text::printable($name) . ' ' . implode(' ', array_map([Text::class, 'printable'], $words));
        try {
            $this->limiter = limiter($name, count($words) === 1 ? $words[0] : $words);
        } catch (ConfigurationException $error) {
            throw new CommandError($error->getMessage());
        } catch (\TypeError) {
            throw new UsageError(Text::printable($name) . ' is one limit and takes one CLIENT');
        } catch (\ValueError $error) {
            throw new UsageError(preg_replace('~^.*?\(\$client\) ~', 'CLIENT ', $error->getMessage()));
        }
    }

    /**
     * What the store says of the client's next call.
     *
     * @throws CommandError if the store does not answer, so that nothing is known, and what was done before may not have arrived
     */
    public function ask(): Decision
    {
        $decision = @$this->limiter->peek(1);
        if (!$decision->isDegraded()) {
            return $decision;
        }
        // The first call of an outage warns of its reason, be it this one or the one before.
        $is_ours = preg_match('~^TokenBucket[\w\\\\]*::\w+\(\): (.*)~s', error_get_last()['message'] ?? '', $parts) === 1;
        throw new CommandError($is_ours ? $parts[1] : 'the server does not answer: see token-bucket status');
    }
}
