"""Tables inside Shoal: integer codes, class statistics, and the recoding that every result is."""
