// Read whether a database can be written.
// $database
// → access
SHOW DATABASES YIELD name, access
WHERE name = $database
RETURN access
