"""The version of this release, the only place where it is written."""

VERSION = "0.1.0"
