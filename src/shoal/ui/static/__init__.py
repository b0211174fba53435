"""The files of the page: plain ES modules and a style sheet, no build step."""
