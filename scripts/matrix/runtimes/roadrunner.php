<?php
/*
 * A worker of RoadRunner: goridge frames over its pipes, whose headers are in protobuf. What an application does with the
 * packages spiral/goridge and spiral/roadrunner-http.
 */
require __DIR__ . '/application.inc';

const CONTROL = 0x01;
const ERROR = 0x40;
const PROTOBUF = 0x80;

/** Reads so many bytes, or null at the end of the stream. */
function read(int $length): ?string
{
    $bytes = $length === 0 ? '' : stream_get_contents(STDIN, $length);
    return strlen((string) $bytes) === $length ? $bytes : null;
}

/** Sends a frame; the length of its header is its option, if there is one. */
function send(int $flags, string $header, string $body): void
{
    $options = $flags & CONTROL ? '' : pack('V', strlen($header));
    $start = pack('CCV', 1 << 4 | 3 + intdiv(strlen($options), 4), $flags, strlen($header . $body));
    fwrite(STDOUT, $start . pack('Vxx', crc32($start)) . $options . $header . $body);
}

/** A number of protobuf at an offset, which it moves. */
function varint(string $bytes, int &$at): int
{
    for ($value = $shift = 0;; $shift += 7) {
        $byte = ord($bytes[$at++]);
        $value |= ($byte & 0x7f) << $shift;
        if ($byte < 0x80) {
            return $value;
        }
    }
}

/** The query string in a request's header: field 7. */
function query(string $header): string
{
    for ($at = 0; $at < strlen($header);) {
        $field = varint($header, $at);
        $length = varint($header, $at);
        if (($field & 7) === 2) {
            if ($field >> 3 === 7) {
                return substr($header, $at, $length);
            }
            $at += $length;
        }
    }
    return '';
}

while (($start = read(12)) !== null) {
    ['first' => $first, 'flags' => $flags, 'length' => $length] = unpack('Cfirst/Cflags/Vlength', $start);
    $options = (string) read((($first & 0x0f) - 3) * 4);
    $payload = (string) read($length);
    if ($flags & CONTROL) {
        if (!isset(json_decode($payload, true)['pid'])) {
            break;
        }
        send(CONTROL, '', json_encode(['pid' => getmypid()]));
        continue;
    }
    parse_str(query(substr($payload, 0, unpack('V', $options)[1])), $get);
    try {
        [$status, $body] = answer($get);
        // Field 1, a number below 2^14.
        send(PROTOBUF, "\x08" . chr($status & 0x7f | 0x80) . chr($status >> 7), $body);
    } catch (Throwable $thrown) {
        send(ERROR, '', (string) $thrown);
    } finally {
        TokenBucket\end_request();
    }
}
