-- Looks at a row of the classic table, as classic.sql sees it.
SELECT {clock}, 0, CAST(ROUND(LEAST(GREATEST(microtime, -4e9), 4e9) * 1e9) AS SIGNED) + {full}, 0, 0, 1
FROM `{table}` WHERE identifier = {name}
