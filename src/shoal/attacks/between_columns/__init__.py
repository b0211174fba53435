"""What one published column tells of another within the classes, and how far columns narrow people down."""
