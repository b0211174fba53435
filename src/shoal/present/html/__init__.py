"""The HTML that every page is built from."""
