"""The web server: sessions, access, uploads and runs; it computes nothing."""
