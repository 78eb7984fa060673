"""The first hour with a stack: write its config, and log in to the Coder that it deployed."""
