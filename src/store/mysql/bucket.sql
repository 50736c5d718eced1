-- The token bucket in a table: the port of limit::apply, held to it by the differential test.
--
-- A line that begins with letters in brackets is part of the statement for these operations only:
--   T take   R reserve   C check   F refund   X reset   S start
--   N a cost of nothing and D a cost above the capacity, which change a bucket only where it holds
--   a time that no clock could have written
-- In braces stand the parameters, which src/store/mysql/statements.rs gives; times are nanoseconds
-- and parts of one more.
--
-- A row says the same twice: `microtime` is when the bucket was empty, in seconds, which is all
-- that the classic table knows; kind, due, part and more are the state of limit::State, exactly. They
-- count as long as `seen` is the microtime they were written with; else classic code has written
-- since, with a clock that shows microseconds.
--
-- The clock is read once the row is ours, so that who comes later has the later time. A case is
-- evaluated from top to bottom, which is what sets the variables (what could be known beforehand
-- would not be evaluated: @n * 0 stands for 0):
--   @n now   @k @t @p @x the state before: kind, due, part, more; @k is -1 for no row
--   @l when a bucket that owes nothing is full at the latest
--   @c whether the state holds a time that no clock could have written, @u @v due and part without
--   @f @e when the bucket is full   @g @h the same after the operation
--   @i whether it is accepted   @r the kind after; -1 where nothing changes
INSERT INTO `{table}` (identifier, due, microtime, kind, part, more, seen) VALUES (
[TRCS] {name}, (@n := {clock}) + {span},
[FXND] {name}, (@n := {clock}) * 0,
  (due - {full}) / 1e9, (@k := -1) * 0,
[TRCS] {span_part},
[FXND] 0,
[TRCSFXN] (@i := 1) * 0,
[D] (@i := 0),
  microtime
) ON DUPLICATE KEY UPDATE kind = CASE
  WHEN (@n := @n * 0 + {clock}) IS NULL THEN 0
  WHEN (@k := IF(seen = microtime, COALESCE(kind, 0), 0)) IS NULL THEN 0
  WHEN (@t := IF(seen = microtime, COALESCE(due, 0), CAST(ROUND(LEAST(GREATEST(COALESCE(microtime, 0), -4e9), 4e9) * 1e6) AS SIGNED) * 1000 + {full})) IS NULL THEN 0
  WHEN (@p := IF(seen = microtime, COALESCE(part, 0), {full_part})) IS NULL THEN 0
  WHEN (@x := IF(seen = microtime, COALESCE(more, 0), 0)) IS NULL THEN 0
  WHEN (@l := @n + {full}) IS NULL THEN 0
  WHEN (@u := CASE @k WHEN 0 THEN @l WHEN 1 THEN CAST(@l + {full_up} + (1 << LEAST(@x, 57)) AS SIGNED) ELSE (@l + {full_up} + 499) DIV 500 * 500 END) IS NULL THEN 0
  WHEN (@c := @t > @u OR (@k = 0 AND @t = @u AND @p > {full_part})) IS NULL THEN 0
  WHEN (@u := LEAST(@t, @u)) IS NULL THEN 0
  WHEN (@v := IF(@c, IF(@k = 0, {full_part}, 0), @p)) IS NULL THEN 0
[TRCFS] WHEN (@f := IF(@k = 2, IF(@u > @n, @u + LEAST(@x, 126230400000000000), 0), @u)) IS NULL THEN 0
[TRCFS] WHEN (@e := IF(@f < @n, 0, CASE @k WHEN 0 THEN LEAST(@v, {parts} - 1) WHEN 1 THEN CAST(@v * {parts} >> 24 AS SIGNED) ELSE 0 END)) IS NULL THEN 0
[TRCFS] WHEN (@f := GREATEST(@f, @n)) IS NULL THEN 0
[TRC] WHEN (@h := @e + {span_part}) IS NULL THEN 0
[TRC] WHEN (@g := @f + {span} + (@h >= {parts})) IS NULL THEN 0
[TRC] WHEN (@h := @h - IF(@h >= {parts}, {parts}, 0)) IS NULL THEN 0
[F] WHEN (@g := IF(@n + {span} > @f OR (@n + {span} = @f AND {span_part} >= @e), 0, @f - {span} - (@e < {span_part}))) IS NULL THEN 0
[F] WHEN (@h := IF(@g = 0, 0, @e - {span_part} + IF(@e < {span_part}, {parts}, 0))) IS NULL THEN 0
[S] WHEN (@g := @n + {span}) IS NULL OR (@h := @n * 0 + {span_part}) IS NULL THEN 0
[X] WHEN (@g := @n * 0) IS NULL OR (@h := @n * 0) IS NULL THEN 0
[TRCF] WHEN (@i := @g < @l OR (@g = @l AND @h <= {full_part})) IS NULL THEN 0
[S] WHEN (@i := @f = @n AND @e = 0) IS NULL THEN 0
[XN] WHEN (@i := @n * 0 + 1) IS NULL THEN 0
[D] WHEN (@i := @n * 0) IS NULL THEN 0
[TSX] WHEN (@r := @i - 1) IS NULL THEN 0
[ND] WHEN (@r := @n * 0 - 1) IS NULL THEN 0
[C] WHEN (@r := IF(@i, 0, 2)) IS NULL THEN 0
[F] WHEN (@r := IF(@i, 0, IF(@k = 2, 2, 1))) IS NULL THEN 0
[R] WHEN (@r := IF(@i, 0, IF(LEAST(@g - {full} + (@h > {full_part}), IF(@k = 2, @u, 1 << 62)) - @n <= {max_wait}, 1, -1))) IS NULL THEN 0
[R] WHEN (@i := @r >= 0) IS NULL THEN 0
  ELSE IF(@r >= 0, @r, IF(@c, @k, kind)) END,
due = CASE @r WHEN -1 THEN IF(@c, @u, due)
[TRCFSX] WHEN 0 THEN @g
[RF] WHEN 1 THEN @g + ((@h * 16777216 + {parts} - 1) DIV {parts} >> 24)
[C] WHEN 2 THEN (@l + {full_up} + 499) DIV 500 * 500
[F] WHEN 2 THEN @u
  END,
part = CASE @r WHEN -1 THEN IF(@c, @v, part)
[TRCFSX] WHEN 0 THEN @h
[RF] WHEN 1 THEN (@h * 16777216 + {parts} - 1) DIV {parts} & 16777215
[CF] WHEN 2 THEN 0
  END,
more = CASE @r WHEN -1 THEN IF(@c, @x, more)
[TRCFSX] WHEN 0 THEN 0
[RF] WHEN 1 THEN IF(@g - @l + (@h > {full_part}) <= 1, 0, LENGTH(BIN(@g - @l + (@h > {full_part}) - 1)))
[C] WHEN 2 THEN LEAST((GREATEST(@g + (@h > 0) - due, 0) + 499) DIV 500 * 500, 126230399999999500)
[F] WHEN 2 THEN (GREATEST(@g + (@h > 0) - due, 0) + 499) DIV 500 * 500
  END,
microtime = IF(@r < 0 AND NOT @c, microtime, (due + IF(kind = 2, more, 0) - {full}) / 1e9),
seen = IF(@r < 0 AND NOT @c, seen, microtime)
RETURNING @n, @k, @t, @p, @x, @i
