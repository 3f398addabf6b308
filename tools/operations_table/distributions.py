"""What objects of ``torch.distributions`` offer, and which of it requires grad where every parameter does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import distributions
from torch.distributions import constraints

MEMBERS = (
    "sample", "sample_n", "rsample", "log_prob", "cdf", "icdf", "entropy", "mean", "mode", "variance", "stddev",
    "perplexity", "enumerate_support", "expand", "probs", "logits", "loc", "scale", "batch_shape", "event_shape",
    "has_rsample", "has_enumerate_support", "covariance_matrix", "precision_matrix", "scale_tril", "concentration",
    "rate", "df", "total_count", "temperature", "low", "high", "base_dist", "component_distribution",
    "mixture_distribution", "transforms", "param_shape",
)  # fmt: skip
"""What is looked at of every distribution, where it has that."""

_WORDS = ("never", "live", "other")


def measure() -> dict[str, dict[str, list[str]]]:
    """Return, by distribution, the members that never, or ever, give a tensor that requires grad, and the others."""
    found: dict[str, dict[str, set[str]]] = {}
    for name, made in _made():
        verdicts = found.setdefault(name, {word: set() for word in _WORDS})
        for member in MEMBERS:
            for word in _looked_at(made, member):
                verdicts[word].add(member)
    return {name: _sorted(verdicts) for name, verdicts in sorted(found.items())}


def _sorted(verdicts: dict[str, set[str]]) -> dict[str, list[str]]:
    verdicts["never"] -= verdicts["live"]
    return {word: sorted(members) for word, members in verdicts.items()}


def _looked_at(make: Callable[[], Any], member: str) -> Iterator[str]:
    torch.manual_seed(0)
    made = make()
    try:
        offered = getattr(made, member)
        results = [call() for call in _calls(made, member)] if callable(offered) else [offered]
    except Exception:  # noqa: BLE001 - a distribution need not have everything
        return
    for each in results:
        if isinstance(each, torch.Tensor):
            yield "live" if each.requires_grad else "never"
        elif each is not None:
            yield "other"


def _calls(made: Any, member: str) -> list[Callable[[], Any]]:
    offered = getattr(made, member)
    if member in ("log_prob", "cdf"):
        return [lambda: offered(made.sample())]
    if member == "icdf":
        return [lambda: offered(torch.full(made.batch_shape, 0.5))]
    if member == "sample_n":
        return [lambda: offered(2)]
    if member == "expand":
        return [lambda: offered((2, *made.batch_shape))]
    if member in ("sample", "rsample"):
        return [offered, lambda: offered((2,))]
    return [offered]


# ---------------------------------------------------------------------- objects
def _made() -> Iterator[tuple[str, Callable[[], Any]]]:
    for name in sorted(distributions.__all__):
        offered = getattr(distributions, name)
        if not (isinstance(offered, type) and issubclass(offered, distributions.Distribution)):
            continue
        for make in _BY_HAND.get(name, ()) or _by_constraints(offered):
            if _works(make):
                yield name, make


def _works(make: Callable[[], Any]) -> bool:
    try:
        make()
    except Exception:  # noqa: BLE001 - an abstract class, or parameters that exclude each other
        return False
    return True


def _by_constraints(kind: type) -> Iterator[Callable[[], Any]]:
    """Make one from parameters drawn within the constraints that the class itself declares; one choice of each."""
    wanted = getattr(kind, "arg_constraints", None)
    if not isinstance(wanted, dict):
        return
    taken = inspect.signature(kind).parameters
    needed = [word for word in wanted if word in taken and taken[word].default is inspect.Parameter.empty]
    optional = [word for word in wanted if word in taken and word not in needed]
    for choice in optional or [None]:
        words = [*needed, *([choice] if choice else [])]
        yield partial(_constrained, kind, {word: wanted[word] for word in words})


def _constrained(kind: type, parameters: dict[str, Any]) -> Any:
    return kind(**{word: _value(word, constraint) for word, constraint in parameters.items()})


def _value(word: str, constraint: Any) -> Any:
    if getattr(constraint, "is_discrete", False):
        return torch.tensor([3.0, 4.0])
    shape = (3, 3) if constraint in _MATRICES else (2, 3)
    value = torch.distributions.transform_to(constraint)(torch.linspace(-0.4, 0.8, shape[0] * shape[1]).reshape(shape))
    if word == "high":
        value = value.abs() + 2
    return value.detach().requires_grad_()


_MATRICES = (constraints.lower_cholesky, constraints.positive_definite)


def _live(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def _normal() -> Any:
    return distributions.Normal(_live(0.0, 1.0), _live(1.0, 2.0))


_BY_HAND: dict[str, tuple[Callable[[], Any], ...]] = {
    "Binomial": (
        lambda: distributions.Binomial(5, probs=_live(0.3, 0.6)),
        lambda: distributions.Binomial(5, logits=_live(0.3, 0.6)),
    ),
    "NegativeBinomial": (
        lambda: distributions.NegativeBinomial(5, probs=_live(0.3, 0.6)),
        lambda: distributions.NegativeBinomial(5, logits=_live(0.3, 0.6)),
    ),
    "Multinomial": (
        lambda: distributions.Multinomial(5, probs=_live(0.3, 0.7)),
        lambda: distributions.Multinomial(5, logits=_live(0.3, 0.7)),
    ),
    "Independent": (lambda: distributions.Independent(_normal(), 1),),
    "LKJCholesky": (lambda: distributions.LKJCholesky(3, _live(1.0)[0]),),
    "LogisticNormal": (lambda: distributions.LogisticNormal(_live(0.0, 1.0), _live(1.0, 2.0)),),
    "LowRankMultivariateNormal": (
        lambda: distributions.LowRankMultivariateNormal(_live(0.0, 1.0), _live(1.0, 0.5).unsqueeze(1), _live(1.0, 1.0)),
    ),
    "MixtureSameFamily": (
        lambda: distributions.MixtureSameFamily(distributions.Categorical(logits=_live(0.3, 0.6)), _normal()),
    ),
    "RelaxedBernoulli": (
        lambda: distributions.RelaxedBernoulli(_live(1.0)[0], probs=_live(0.3, 0.6)),
        lambda: distributions.RelaxedBernoulli(_live(1.0)[0], logits=_live(0.3, 0.6)),
    ),
    "RelaxedOneHotCategorical": (
        lambda: distributions.RelaxedOneHotCategorical(_live(1.0)[0], probs=_live(0.3, 0.7)),
        lambda: distributions.RelaxedOneHotCategorical(_live(1.0)[0], logits=_live(0.3, 0.7)),
    ),
    "TransformedDistribution": (
        lambda: distributions.TransformedDistribution(_normal(), [distributions.ExpTransform()]),
    ),
    "Uniform": (lambda: distributions.Uniform(_live(0.0, 1.0), _live(2.0, 3.0)),),
    "Wishart": (lambda: distributions.Wishart(_live(4.0)[0], torch.eye(3).requires_grad_()),),
}
"""Those that are made of other distributions, or of numbers that their constraints do not tell."""
