// Store parts of the files of a task, which may not exist yet.
// $task, $rows: [{file, part, name, content_type, bytes}]
UNWIND $rows AS row
MERGE (b:E2GBlob {task: $task, file: row.file, part: row.part})
SET b.name = row.name, b.content_type = row.content_type, b.bytes = row.bytes,
    b.created = timestamp()
