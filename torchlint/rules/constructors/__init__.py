"""TNS3: legacy constructors and conversions."""
