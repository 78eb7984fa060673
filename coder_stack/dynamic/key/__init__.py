"""Parts of provisioner_key.py: its inputs, organization, adoption and rotation."""
