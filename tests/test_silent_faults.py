"""What the rules of TNS5 warn of, executed."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch


def test_kept_weights_are_the_last_ones_unless_they_are_copied() -> None:
    model = torch.nn.Linear(2, 2)
    live, shallow, copied = model.state_dict(), dict(model.state_dict()), copy.deepcopy(model.state_dict())
    first = model.weight.detach().clone()
    model(torch.ones(2)).sum().backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    assert torch.equal(live["weight"], model.weight)
    assert torch.equal(shallow["weight"], model.weight)
    assert torch.equal(copied["weight"], first)
    assert not torch.equal(first, model.weight)


def test_a_revived_loss_gives_its_parameters_no_gradient() -> None:
    for revive in (
        lambda loss: torch.tensor(loss.item(), requires_grad=True),
        lambda loss: torch.autograd.Variable(loss.detach(), requires_grad=True),  # noqa: TNS401
        lambda loss: loss.detach().requires_grad_(),
    ):
        model = torch.nn.Linear(2, 2)
        revive(model(torch.ones(2)).sum()).backward()
        assert model.weight.grad is None
    model = torch.nn.Linear(2, 2)
    model(torch.ones(2)).sum().requires_grad_().backward()
    assert model.weight.grad is not None
    with pytest.raises(RuntimeError, match="leaf"):  # an assignment is refused where there is a graph
        model(torch.ones(2)).sum().requires_grad = True
