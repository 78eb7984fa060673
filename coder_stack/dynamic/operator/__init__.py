"""Parts of operator_access.py: its inputs, the account, and giving a token up."""
