"""Text for a terminal: columns, escaping of foreign text, streams, progress."""
