// Who we are to the database.
// → user
SHOW CURRENT USER YIELD user
RETURN user
