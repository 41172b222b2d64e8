// Read one part of a file of a task.
// $task, $file, $part
// → bytes
MATCH (b:E2GBlob {task: $task, file: $file, part: $part})
RETURN b.bytes AS bytes
