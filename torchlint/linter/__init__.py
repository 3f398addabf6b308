"""Bytes to findings, findings to repaired bytes, file by file and in a pool of processes."""
