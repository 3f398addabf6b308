"""What an answer about a value is made of, whoever found it: types alone, and no way to find one."""
