-- The fixed window in a table: the port of limit::apply, held to it by the differential test.
--
-- Written as bucket.sql is, with the same operations (no reserve, check or start) and columns: kind
-- is 3, due the window's last moment, part its hits.
--   @n now   @k @t @p @x the state before   @l the last moment of a window that opens now
--   @o whether a window is open   @c whether its end is one that no clock could have written
--   @h the hits in it   @i whether the call is accepted   @r whether it changes something
INSERT INTO `{table}` (identifier, due, microtime, kind, part, more, seen) VALUES (
[T] {name}, (@n := {clock}) + {interval}, due / 1e9, (@k := -1) * 0 + 3, {cost}, (@i := 1) * 0, microtime
[FXN] {name}, (@n := {clock}) * 0, 0, (@k := -1) * 0, 0, (@i := 1) * 0, microtime
[D] {name}, (@n := {clock}) * 0, 0, (@k := -1) * 0, 0, (@i := 0), microtime
) ON DUPLICATE KEY UPDATE kind = CASE
  WHEN (@n := @n * 0 + {clock}) IS NULL THEN 0
  WHEN (@k := IF(seen = microtime AND kind = 3, 3, -1)) IS NULL THEN 0
  WHEN (@t := IF(@k = 3, COALESCE(due, 0), 0)) IS NULL THEN 0
  WHEN (@p := IF(@k = 3, COALESCE(part, 0), 0)) IS NULL THEN 0
  WHEN (@x := @n * 0) IS NULL THEN 0
  WHEN (@l := @n + {interval}) IS NULL THEN 0
  WHEN (@o := @k = 3 AND @n <= @t) IS NULL THEN 0
  WHEN (@c := @o AND @t > @l) IS NULL THEN 0
  WHEN (@h := IF(@o, LEAST(@p, {limit}), 0)) IS NULL THEN 0
[T] WHEN (@r := @i := @h + {cost} <= {limit}) IS NULL THEN 0
[F] WHEN (@r := @o) IS NULL OR (@i := @n * 0 + 1) IS NULL THEN 0
[X] WHEN (@r := @i := @n * 0 + 1) IS NULL THEN 0
[N] WHEN (@r := @n * 0) IS NULL OR (@i := @n * 0 + 1) IS NULL THEN 0
[D] WHEN (@r := @i := @n * 0) IS NULL THEN 0
[TF] ELSE IF(@r OR @c, 3, kind) END,
[ND] ELSE IF(@c, 3, kind) END,
[X] ELSE 0 END,
[TFND] due = IF(@r OR @c, IF(@o AND NOT @c, @t, @l), due),
[X] due = 0,
[T] part = IF(@r, @h + {cost}, IF(@c, @h, part)),
[F] part = IF(@r, GREATEST(@h - {cost}, 0), part),
[ND] part = IF(@c, @h, part),
[X] part = 0,
more = IF(@r OR @c, 0, more),
microtime = IF(@r OR @c, due / 1e9, microtime),
seen = IF(@r OR @c, microtime, seen)
RETURNING @n, @k, @t, @p, @x, @i
