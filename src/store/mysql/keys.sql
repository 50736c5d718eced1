-- Counts the keys that let a table have but one row of a name.
SELECT COUNT(*) FROM information_schema.statistics
WHERE table_schema = DATABASE() AND table_name = {table_name}
AND column_name = 'identifier' AND non_unique = 0 AND seq_in_index = 1
