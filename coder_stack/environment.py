"""Environment variables of Coder's programs that more than one module names. Pure."""

ACCESS_URL = "CODER_ACCESS_URL"
PRIMARY_URL = "CODER_PRIMARY_ACCESS_URL"
URL = "CODER_URL"
DAEMON_KEY = "CODER_PROVISIONER_DAEMON_KEY"
DAEMON_NAME = "CODER_PROVISIONER_DAEMON_NAME"
SET_BY_DAEMON_KEY = (
    "CODER_ORGANIZATION",
    "CODER_PROVISIONERD_TAGS",
    "CODER_PROVISIONER_DAEMON_PSK",
)
"""A provisioner daemon refuses to start with one of these beside a key, which determines them."""
