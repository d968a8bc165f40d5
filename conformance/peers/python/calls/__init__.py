"""The calling side: one call to another program, by any of the three doors."""
