"""`python -m pushrod` is the command `pushrod`."""

from pushrod.cli.main import main

if __name__ == "__main__":
    main()
