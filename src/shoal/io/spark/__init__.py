"""Tables in a Spark cluster."""
