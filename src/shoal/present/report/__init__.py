"""The report page, one file per section."""
