"""A simulated coderd: the part of its HTTP API that coder-stack uses, with the same messages.

`rules` makes the decisions without HTTP, `routes` maps requests to them, `application` is the ASGI
app with rate limits, faults and the request log, `cli` starts it. It runs no workspaces and has no
web page. Only it accepts its licenses, which are signed with a public test key.
"""
