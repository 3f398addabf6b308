"""What torch, NumPy, Python's own functions and other libraries do, as tables: nothing here walks a program.

A function like one that is known needs a row in the module of its family, and nothing else:

- ``functions``: torch's functions; ``operations.json`` says what was measured of the others, ``operations`` reads it;
- ``tensors``, ``dtypes``, ``factories``, ``devices``: methods and attributes, elements, what makes tensors, places;
- ``nn``: modules, their methods, what calling one gives; data sets, distributions;
- ``grad_mode``: context managers and decorators that switch it;
- ``builtins``, ``containers``: Python's functions, lists and dicts;
- ``libraries``: NumPy, torchvision, Lightning and others; ``frameworks`` tells torch's code from theirs.

``tables`` reads the rows. What cannot be said in a word is a small function that a row names.
"""
