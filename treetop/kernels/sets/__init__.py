"""Information-set search: sets in a table, selection in them, the descent over them, and its backup."""
