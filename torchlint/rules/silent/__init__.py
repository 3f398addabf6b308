"""TNS5: mistakes that raise nothing and cost a training or an hour of a GPU."""
