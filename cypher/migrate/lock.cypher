// Take the lock of the migrations. Fails with ConstraintValidationFailed while another run holds it.
// $id, $name
CREATE (:__Neo4jMigrationsLock {id: $id, name: $name})
