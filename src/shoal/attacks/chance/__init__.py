"""What chance does: exact tails and intervals, random dealings, and the tests by which a finding is told from them."""
