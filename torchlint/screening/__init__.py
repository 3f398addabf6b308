"""Which candidates may be at fault, told by the stdlib's tree alone, so that LibCST reads only what is spoken about."""
