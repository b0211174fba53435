"""Everything a person reads, made from facts: sentences, numbers, tables, plots and pages."""
