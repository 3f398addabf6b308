"""Words by which code names networks, and methods that give a network itself."""

from __future__ import annotations

import re
from typing import Final

MODEL_WORD: Final = re.compile(
    r"(^|_)(model|net|network|encoder|decoder|critic|actor|policy|generator|discriminator|classifier|backbone|netg|netd|"
    r"module|resnet\d*|bert|gan|vae|autoencoder|unet|detector|segmentor|learner|transformer|"
    r"qnet|embedder|rnn|lstm|cnn|mlp|embedding|embeddings|fc\d*|conv\d*|linear\d*|layer\d*|head|"
    r"criterion|loss_fn|loss_func|loss_function)$",
    re.IGNORECASE,
)
"""A name that ends in a word for a network or a part of one."""
GIVING_ITSELF: Final = frozenset("to cuda xpu cpu float half double bfloat16 train eval requires_grad_ apply".split())
"""Methods of modules that give the module itself."""
