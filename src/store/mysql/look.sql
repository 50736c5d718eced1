-- Looks at a row, as bucket.sql sees it.
SELECT {clock}, IF(seen <=> microtime, kind, 0),
IF(seen <=> microtime, due, CAST(ROUND(LEAST(GREATEST(microtime, -4e9), 4e9) * 1e6) AS SIGNED) * 1000 + {full}),
IF(seen <=> microtime, part, {full_part}), IF(seen <=> microtime, more, 0), 1
FROM `{table}` WHERE identifier = {name}
