"""torchvision's operations, without its compiled library: boxes kept, regions pooled, and the way back."""

import math

import pytest

import glassgrad as torch
from glassgrad._ops import ops as torch_ops
from glassgrad.library import vision


@pytest.fixture
def ops():
    library = vision.define()
    yield torch.ops.torchvision
    library._destroy()


def sample(image, y, x):
    """A bilinear sample of an image (c, h, w); nought more than one pixel outside of it."""
    height, width = image.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return torch.zeros(image.shape[0], dtype=image.dtype)
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    dy, dx = y - top, x - left
    upper = (1 - dx) * image[:, top, left] + dx * image[:, top, right]
    return (1 - dy) * upper + dy * ((1 - dx) * image[:, bottom, left] + dx * image[:, bottom, right])


def aligned_point_by_point(images, rois, scale, rows, columns, ratio, aligned):
    out = torch.zeros(len(rois), images.shape[1], rows, columns, dtype=images.dtype)
    for k, (image, *corners) in enumerate(rois.tolist()):
        left, top, right, bottom = (corner * scale - 0.5 * aligned for corner in corners)
        height, width = bottom - top, right - left
        if not aligned:
            height, width = max(height, 1), max(width, 1)
        down = ratio if ratio > 0 else math.ceil(height / rows)
        across = ratio if ratio > 0 else math.ceil(width / columns)
        for i in range(rows):
            for j in range(columns):
                for a in range(down):
                    for b in range(across):
                        y = top + (i + (a + 0.5) / down) * height / rows
                        x = left + (j + (b + 0.5) / across) * width / columns
                        out[k, :, i, j] += sample(images[int(image)], y, x) / (down * across)
    return out


ROIS = [[0, 1, 2, 10, 12], [1, -3, 4, 23, 15], [0, 5, 5, 5.2, 5.1], [1, 0, 0, 17.5, 9.5], [0, 7, 7, 7, 7]]


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [2, -1])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_regions_are_means_of_samples_and_their_gradient_is_the_transpose(ops, scale, ratio, aligned):
    torch.manual_seed(0)
    images, rois = torch.rand(2, 3, 10, 18, dtype=torch.float64), torch.tensor(ROIS, dtype=torch.float64)
    pooled = ops.roi_align(images, rois, scale, 3, 4, ratio, aligned)
    torch.testing.assert_close(pooled, aligned_point_by_point(images, rois, scale, 3, 4, ratio, aligned))
    grad = torch.rand_like(pooled)
    back = ops._roi_align_backward(grad, rois, scale, 3, 4, *images.shape, ratio, aligned)
    torch.testing.assert_close((grad * pooled).sum(), (back * images).sum())  # linear: <g, A x> = <A' g, x>


def test_boxes_that_a_better_one_overlaps_are_left_out(ops):
    torch.manual_seed(1)
    boxes, scores = torch.rand(60, 4), torch.rand(60)
    boxes[:, 2:] += boxes[:, :2]
    boxes[7], boxes[9, 2:] = boxes[3], boxes[9, :2]  # one twice, and one without an area
    kept = []
    for index in scores.argsort(descending=True).tolist():
        a = boxes[index]
        for other in kept:
            b = boxes[other]
            sides = (torch.minimum(a[2:], b[2:]) - torch.maximum(a[:2], b[:2])).clamp(min=0)
            union = (a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - sides.prod()
            if sides.prod() / union > 0.3:
                break
        else:
            kept.append(index)
    assert 5 < len(kept) < 60 and ops.nms(boxes, scores, 0.3).tolist() == kept
    assert ops.nms(torch.zeros(0, 4), torch.zeros(0), 0.5).shape == (0,)
    with pytest.raises(RuntimeError, match="4 elements"):
        ops.nms(torch.ones(2, 3), torch.ones(2), 0.5)


def test_what_has_no_kernel_says_so(ops):
    with pytest.raises(NotImplementedError, match="torchvision::roi_pool"):
        ops.roi_pool(torch.ones(1, 1, 4, 4), torch.tensor([[0.0, 0, 0, 2, 2]]), 1.0, 2, 2)


def test_the_library_of_torchvision_is_taken_for_loaded(tmp_path, monkeypatch):
    path = tmp_path / "torchvision" / "_C.so"
    path.parent.mkdir()
    with pytest.raises(OSError, match="custom_op"):
        torch_ops.load_library(path)
    path.touch()
    (path.parent / "image.so").touch()
    monkeypatch.setattr(torch_ops, "loaded_libraries", set())
    made = []
    monkeypatch.setattr(vision, "define", lambda: made.append(1))
    torch_ops.load_library(path)
    torch_ops.load_library(path)
    assert made == [1] and torch_ops.loaded_libraries == {str(path)}
    with pytest.raises(OSError, match="image.so"):
        torch_ops.load_library(path.parent / "image.so")
