"""What survives a restart: trees of plain data and arrays, in files that are whole or not there."""
