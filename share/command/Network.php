<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** An address, or a network of addresses. */
final class Network
{
    /** @var array<int, array<int, string>> by the bytes of an address and the length of a network */
    private static array $masks = [];

    /** @param string $bytes of the first address: 4 or 16 */
    private function __construct(private string $bytes, public readonly int $bits)
    {
    }

    /** @return self|null null for any other text, such as an address with a zone or a port */
    public static function parse(string $text): ?self
    {
        // inet_pton() takes a text that ends at a NUL.
        if (preg_match('~^([\da-fA-F:.]+)(?:/(\d{1,3}))?$~D', $text, $parts) !== 1) {
            return null;
        }
        $bytes = @inet_pton($parts[1]);
        if ($bytes === false) {
            return null;
        }
        $most = 8 * strlen($bytes);
        $bits = (int) ($parts[2] ?? $most);
        return $bits > $most ? null : (new self($bytes, $most))->shortened($bits);
    }

    public function isIpv4(): bool
    {
        return strlen($this->bytes) === 4;
    }

    /** As TokenBucket\client_network() writes it. */
    public function text(): string
    {
        return $this->address() . ($this->bits === 8 * strlen($this->bytes) ? '' : "/$this->bits");
    }

    /** The first address. */
    public function address(): string
    {
        return (string) inet_ntop($this->bytes);
    }

    public function overlaps(self $other): bool
    {
        $bits = min($this->bits, $other->bits);
        return strlen($this->bytes) === strlen($other->bytes) && $this->masked($bits) === $other->masked($bits);
    }

    /** Whether each address of the other is in this one. */
    public function holds(self $other): bool
    {
        return $this->bits <= $other->bits && $this->overlaps($other);
    }

    /** The network of so many bits, no more than this one has, that this one is in. */
    public function shortened(int $bits): self
    {
        return new self($this->masked($bits), $bits);
    }

    private function masked(int $bits): string
    {
        $length = strlen($this->bytes);
        $mask = self::$masks[$length][$bits] ??= str_pad(str_repeat("\xff", intdiv($bits, 8)) . ($bits % 8 > 0 ? chr(0xff << 8 - $bits % 8 & 0xff) : ''), $length, "\0");
        return $this->bytes & $mask;
    }
}
