"""``python -m shoal`` is the same as ``shoal``."""

from shoal.cli.main import main

main()
