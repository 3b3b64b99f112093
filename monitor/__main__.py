"""Where every command begins: Ctrl-C while things are being imported ends it without a traceback."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from monitor.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
