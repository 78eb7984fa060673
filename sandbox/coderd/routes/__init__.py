"""The routes, one file per section of the API: read the request, call the rules, respond."""
