-- Looks at a row, as bucket.sql sees it.
SELECT {clock}, IF(seen = microtime, COALESCE(kind, 0), 0),
IF(seen = microtime, COALESCE(due, 0), CAST(ROUND(LEAST(GREATEST(COALESCE(microtime, 0), -4e9), 4e9) * 1e6) AS SIGNED) * 1000 + {full}),
IF(seen = microtime, COALESCE(part, 0), {full_part}), IF(seen = microtime, COALESCE(more, 0), 0), 1
FROM `{table}` WHERE identifier = {name}
