"""`shoal ui`: the web page on which a steward gets from a file to a defended release.

A thin face of the pipeline, like the command line: every click changes the policy file that the command line runs.
Needs ``shoal[ui]``.
"""
