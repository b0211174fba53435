"""The evidence: what was asked, what holds, what was lost - facts first, as JSON that other programs read."""
