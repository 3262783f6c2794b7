"""Operations: the table of records, and everything that is derived from it."""
