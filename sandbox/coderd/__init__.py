"""A simulated coderd: the HTTP API that coder-stack uses, to the status code and the message.

`rules` decides (no HTTP framework, time is handed in), `routes` translates one API section each,
`application` is the ASGI app with rate limits, faults and the request log, `cli` starts it. It runs
no workspaces and serves no web page. Its licenses are signed with a public test key and are worth
nothing anywhere else.
"""
