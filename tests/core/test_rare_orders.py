"""What happens when hooks, views and shared memory meet in an order that is rare: as torch has it."""

import pytest

import glassgrad as torch


def same(value):
    return value


@pytest.mark.parametrize("power", [False, True])
def test_hooks_of_saved_tensors_see_the_value_before_a_write(power):
    x, z = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(same, same):
        y.pow_(2) if power else y.mul_(z)
    y.backward()
    assert x.grad.item() == (4.0 if power else 3.0)
    assert power or z.grad.item() == 2.0


@pytest.mark.parametrize("name", ["t", "detach", "view_as_real"])
def test_views_take_no_out(name):
    with pytest.raises(TypeError, match="out"):
        getattr(torch, name)(torch.ones(2, 2), out=torch.ones(1))


def test_hooks_stay_when_a_saved_value_is_packed_afterwards():
    x, seen = torch.ones(3, requires_grad=True), []
    y = x.exp()
    y.register_hook(seen.append)
    y.grad_fn._raw_saved_result.register_hooks(same, same)
    y.sum().backward()
    assert len(seen) == 1


@pytest.mark.parametrize("make", [lambda: torch.ones(3), lambda: torch.ones(3).view(3)])
def test_a_leaf_that_wants_no_gradient_any_more_gets_none(make):
    leaf = make().requires_grad_()
    y = (leaf * 2).sum()
    leaf.requires_grad_(False)
    y.backward()
    assert leaf.grad is None


def test_a_saved_result_and_its_tensor_have_one_version():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    saved = y.grad_fn._saved_result
    with torch.no_grad():
        saved.detach().mul_(2)
    y.detach()
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_gradient_whose_elements_share_memory_is_not_added_to():
    x = torch.ones(3, requires_grad=True)
    x.grad = torch.ones(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_the_warning_of_create_graph_names_the_users_line():
    x = torch.ones(3, requires_grad=True)
    with pytest.warns(UserWarning, match="create_graph=True") as warned:
        (x * x).sum().backward(create_graph=True)
    assert warned[0].filename == __file__
