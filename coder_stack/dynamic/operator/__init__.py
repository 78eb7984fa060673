"""Parts of operator_access.py: its inputs, the account, and the removal of a token."""
