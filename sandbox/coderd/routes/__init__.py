"""One file per section of the API: reads the request, asks the rules, words the answer."""
