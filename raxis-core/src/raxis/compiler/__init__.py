"""Compiled functions: record a run, link it to one program, repeat the program."""
