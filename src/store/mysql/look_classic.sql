-- Looks at a row of the classic table, as classic.sql sees it: what it would let go, this shows.
SELECT {clock}, 0, CAST(ROUND(LEAST(GREATEST(COALESCE(microtime, 0), -4e9), 4e9) * 1e9) AS SIGNED) + {full} - {slack}, 0, 0, 1
FROM `{table}` WHERE identifier = {name}
