"""``python -m pacboost`` is the command ``pacboost``."""

from pacboost.cli.main import main

if __name__ == "__main__":
    main(prog_name="pacboost")
