"""What rules of several families ask of the code, and the edits that they share."""
