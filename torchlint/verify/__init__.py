"""The proof: a fix's old and new text are run side by side, and whatever can be observed of them is compared.

This is the only room that imports torch.
"""
