-- The usual case by itself, for it takes half the time: take from a bucket that owes nothing. For
-- any other row it changes nothing and @i is -1: then bucket.sql decides, which describes the columns
-- and the variables. {room} is a full bucket less what is taken.
INSERT INTO `{table}` (identifier, due, part, microtime, kind, more, seen) VALUES (
  {name}, (@n := {clock}) + {span}, {span_part}, (due - {full}) / 1e9, (@k := -1) * 0, (@i := 1) * 0, microtime
) ON DUPLICATE KEY UPDATE
due = IF((@i := IF(seen = microtime AND (@k := kind) = 0 AND (@p := part) >= 0 AND (@t := due) < (@n := @n * 0 + {clock}) + {full},
    @t < @n + {room} OR (@t = @n + {room} AND LEAST(@p, {parts} - 1) <= {room_part}), -1)) > 0,
  GREATEST(@t, @n) + {span} + ((@h := IF(@t < @n, 0, LEAST(@p, {parts} - 1)) + {span_part}) >= {parts}), due),
part = IF(@i > 0, @h - IF(@h >= {parts}, {parts}, 0), part),
microtime = IF(@i > 0, (due - {full}) / 1e9, microtime),
seen = IF(@i > 0, microtime, seen)
RETURNING @n, @k, @t, @p, @x, @i
