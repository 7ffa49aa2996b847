"""Run the command line: `python -m treetop` is `treetop`."""

from treetop.cli.app import main

if __name__ == "__main__":
    main()
