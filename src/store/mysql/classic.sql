-- The token bucket in the classic table, which has but two columns: `microtime` is when the bucket
-- was empty, in seconds. A double knows that to a quarter of a microsecond, and forgets what is less
-- each time: {slack} keeps that from ever costing a token.
--
-- Written as bucket.sql is, for these operations: T take, F refund, X reset, S start.
--   @n now   @k 0; -1 for no row   @t when the bucket is full   @l when it is at the latest
--   @f the same, neither past nor impossible   @g after the operation   @i whether it is accepted
INSERT INTO `{table}` (identifier, microtime) VALUES (
  {name},
[TS] ((@n := {clock}) + {span} - {full}) / 1e9 + (@k := -1) * 0 + (@i := 1) * 0
[FX] ((@n := {clock}) - {full}) / 1e9 + (@k := -1) * 0 + (@i := 1) * 0
) ON DUPLICATE KEY UPDATE microtime = CASE
  WHEN (@n := @n * 0 + {clock}) IS NULL OR (@k := @n * 0) IS NULL THEN 0
  WHEN (@t := CAST(ROUND(LEAST(GREATEST(COALESCE(microtime, 0), -4e9), 4e9) * 1e9) AS SIGNED) + {full}) IS NULL THEN 0
  WHEN (@l := @n + {full}) IS NULL THEN 0
  WHEN (@f := GREATEST(LEAST(@t, @l), @n)) IS NULL THEN 0
[TS] WHEN (@g := @f + {span}) IS NULL THEN 0
[F] WHEN (@g := GREATEST(@f - {span}, @n)) IS NULL THEN 0
[X] WHEN (@g := @n) IS NULL THEN 0
[T] WHEN (@i := @g <= @l + {slack}) IS NULL THEN 0
[S] WHEN (@i := @f <= @n + {slack}) IS NULL THEN 0
[FX] WHEN (@i := @n * 0 + 1) IS NULL THEN 0
  ELSE IF(@i, (@g - {full}) / 1e9, IF(@t > @l, @n / 1e9, microtime)) END
RETURNING @n, @k, @t, 0, 0, @i
