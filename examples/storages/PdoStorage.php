<?php
/*
 * What storages on databases have in common: one transaction for each decision, in which the record
 * is locked, read, and written if the tokens are there.
 */
declare(strict_types=1);

abstract class PdoStorage implements TokenBucketStorage
{
    /** How often a call is made that another process comes between. */
    private const ATTEMPTS = 5;

    /** @param string $table its name, quoted for SQL */
    public function __construct(protected readonly PDO $db, protected readonly string $table)
    {
        // A failure that is not noticed would accept every call.
        if ($db->getAttribute(PDO::ATTR_ERRMODE) !== PDO::ERRMODE_EXCEPTION) {
            throw new InvalidArgumentException('PDO::ATTR_ERRMODE must be PDO::ERRMODE_EXCEPTION');
        }
    }

    public function bootstrap($identifier, $microtime): void
    {
        $this->db->prepare("INSERT INTO $this->table (identifier, microtime) VALUES (?, ?)")
            ->execute([$identifier, self::text($microtime)]);
    }

    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure): bool
    {
        for ($attempt = 1;; $attempt++) {
            $this->begin();
            try {
                $accepted = $this->decide($identifier, $microtime, $full_microtime, $bootstrap_closure);
                $this->db->exec($accepted ? 'COMMIT' : 'ROLLBACK');
                return $accepted;
            } catch (Throwable $e) {
                $this->roll_back();
                if ($attempt === self::ATTEMPTS || !$e instanceof PDOException || !$this->may_try_again($e)) {
                    throw $e;
                }
            }
        }
    }

    /** Begins a transaction; an error if there is one already, for it is the application's. */
    abstract protected function begin(): void;

    /** The query for the time of a record, which locks it. */
    abstract protected function query(): string;

    /** Whether an error means no more than that another process came between. */
    abstract protected function may_try_again(PDOException $e): bool;

    /** The time, for tests to say. */
    protected function now(): float
    {
        return microtime(true);
    }

    private function decide(string $identifier, float $microtime, float $full_microtime, ?callable $bootstrap_closure): bool
    {
        $query = $this->db->prepare($this->query());
        $query->execute([$identifier]);
        $empty_at = $query->fetchColumn();
        $query->closeCursor();
        if ($empty_at === false) {
            return $bootstrap_closure();
        }

        $now = $this->now();
        $available = min($now - (float) $empty_at, $full_microtime);
        if (TokenBucket::compare_microtimes($microtime, $available) > 0) {
            return false;
        }
        $this->db->prepare("UPDATE $this->table SET microtime = ? WHERE identifier = ?")
            ->execute([self::text($now - $available + $microtime), $identifier]);
        return true;
    }

    private function roll_back(): void
    {
        try {
            $this->db->exec('ROLLBACK');
        } catch (PDOException) {
            // The connection is gone, and the transaction with it. The first exception names the cause.
        }
    }

    /** PDO alone would write no more digits of a time than `precision` says: tenths of milliseconds. */
    private static function text(float $microtime): string
    {
        return sprintf('%.7F', $microtime);
    }
}
