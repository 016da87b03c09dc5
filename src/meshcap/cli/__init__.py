"""The command line: arguments in, sentences out. `main.py` is the door."""
