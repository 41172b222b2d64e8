"""Files of every format as text with headings, tables, pages and links."""
