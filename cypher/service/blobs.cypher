// List the files of a task.
// $task
// → file, name, content_type, parts
MATCH (b:E2GBlob {task: $task})
WHERE b.file IS NOT NULL AND b.part IS NOT NULL
WITH b.file AS file, count(*) AS parts
MATCH (first:E2GBlob {task: $task, file: file, part: 0})
RETURN file, first.name AS name, first.content_type AS content_type, parts
ORDER BY file
