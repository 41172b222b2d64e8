// Read the name of the database user.
// → user
SHOW CURRENT USER YIELD user
RETURN user
