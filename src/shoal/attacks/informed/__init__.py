"""The informed adversary: which secrets explain this release, to somebody who knows how it was made?"""
