"""`python -m pushrod` is the command `pushrod`."""

from pushrod.cli.main import main

main()
