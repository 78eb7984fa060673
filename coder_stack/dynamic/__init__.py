"""What lives inside coderd, one Pulumi dynamic provider a file.

Module path and class name of a provider are kept in every stack's state: never move one without
leaving a re-export.
"""
