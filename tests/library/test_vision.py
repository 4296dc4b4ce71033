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


def bins_of(roi, rows, columns, height, width, closed, short):
    """The pixels of each bin of a region, whose corners lie on pixels: the row, the column, and which there are."""
    left, top, right, bottom = (math.floor(abs(corner) + 0.5) * (1 if corner >= 0 else -1) for corner in roi)
    tall, wide = max(bottom - top + closed, 1), max(right - left + closed, 1)
    for i in range(rows):
        for j in range(columns):
            down = range(top + i * tall // rows, top + -(-(i + 1) * tall // rows))
            across = range(left + j * wide // columns, left + -(-(j + 1) * wide // columns))
            ys = sorted({min(max(y, 0), height - short) for y in (down[0], down[-1] + 1)})
            xs = sorted({min(max(x, 0), width - short) for x in (across[0], across[-1] + 1)})
            if len(ys) == len(xs) == 2:
                yield i, j, range(*ys), range(*xs)


def test_largest_pixels_of_bins(ops):
    torch.manual_seed(0)
    images, rois = torch.rand(2, 3, 10, 18, dtype=torch.float64), torch.tensor(ROIS, dtype=torch.float64)
    pooled, places = ops.roi_pool(images, rois, 0.9, 3, 4)
    wanted, at = torch.zeros_like(pooled), torch.full(pooled.shape, -1, dtype=torch.int32)
    for k, (image, *roi) in enumerate(rois.tolist()):
        for i, j, ys, xs in bins_of([0.9 * corner for corner in roi], 3, 4, 10, 18, 1, 0):
            for channel in range(3):
                value, y, x = max((images[int(image), channel, y, x].item(), y, x) for y in ys for x in xs)
                wanted[k, channel, i, j], at[k, channel, i, j] = value, y * 18 + x
    assert torch.equal(pooled, wanted) and torch.equal(places, at)
    grad = torch.rand_like(pooled)
    back = ops._roi_pool_backward(grad, rois, places, 0.9, 3, 4, *images.shape)
    torch.testing.assert_close((grad * pooled).sum(), (back * images).sum())
    nan = ops.roi_pool(torch.tensor([[[[math.nan, -math.inf]]]]), torch.tensor([[0.0, 0, 0, 1, 0]]), 1.0, 1, 1)
    assert nan[0].item() == torch.finfo(torch.float32).min and nan[1].item() == -1


def test_bins_with_channels_of_their_own(ops):
    torch.manual_seed(0)
    images, rois = torch.rand(2, 24, 10, 18, dtype=torch.float64), torch.tensor(ROIS, dtype=torch.float64)
    pooled, channels = ops.ps_roi_pool(images, rois, 0.9, 3, 4)
    wanted = torch.zeros_like(pooled)
    for k, (image, *roi) in enumerate(rois.tolist()):
        for i, j, ys, xs in bins_of([0.9 * corner for corner in roi], 3, 4, 10, 18, 0, 1):
            own = images[int(image), [i * 4 + j, 12 + i * 4 + j]]
            wanted[k, :, i, j] = own[:, ys.start : ys.stop, xs.start : xs.stop].mean((1, 2))
    torch.testing.assert_close(pooled, wanted)
    aligned, same = ops.ps_roi_align(images, rois, 0.9, 3, 4, 2)
    assert torch.equal(channels, same) and channels.dtype is torch.int32
    every = ops.roi_align(images, rois, 0.9, 3, 4, 2, True)
    torch.testing.assert_close(aligned, torch.stack([
        every[:, channels[0, :, i, j].long(), i, j] for i in range(3) for j in range(4)
    ], -1).reshape(aligned.shape))  # fmt: skip
    for result, back, more in ((pooled, ops._ps_roi_pool_backward, ()), (aligned, ops._ps_roi_align_backward, (2,))):
        grad = torch.rand_like(result)
        gradient = back(grad, rois, channels, 0.9, 3, 4, *more, *images.shape)
        torch.testing.assert_close((grad * result).sum(), (gradient * images).sum())
    with pytest.raises(RuntimeError, match="multiple of pooling"):
        ops.ps_roi_pool(images[:, :23], rois, 0.9, 3, 4)


DEFORMED = (2, 1, 1, 2, 1, 2, 2, 2)  # strides, padding, dilation, groups, groups of offsets


def deformed_operands():
    torch.manual_seed(0)
    sizes = (2, 4, 6, 7), (6, 2, 3, 3), (2, 36, 3, 7), (2, 18, 3, 7), (6,)
    return [torch.rand(size, dtype=torch.float64) for size in sizes]


def test_offsets_of_whole_pixels_are_a_convolution_of_the_shifted_image(ops):
    image, weight, offset, mask, bias = deformed_operands()
    for shift in (0, 1):
        offset[:, 0::2], offset[:, 1::2] = shift, -shift
        shifted = torch.nn.functional.pad(image, (shift, 0, 0, shift))[:, :, shift:, : image.shape[3]]
        wanted = torch.nn.functional.conv2d(shifted, weight, bias, (2, 1), (1, 2), (1, 2), 2)
        given = ops.deform_conv2d(image, weight, offset, mask, bias, *DEFORMED, False)
        inner = (slice(None), slice(None), slice(shift, None), slice(2 * shift, -3 * shift or None))
        torch.testing.assert_close(given[inner], wanted[inner])
    whole = ops.deform_conv2d(image, weight, offset, torch.ones_like(mask), bias, *DEFORMED, True)
    assert torch.equal(given, whole)


def test_the_gradients_of_deformed_convolutions_are_slopes(ops):
    operands = deformed_operands()
    operands[2] = 3 * operands[2] - 1.5
    grad = torch.rand(2, 6, 3, 7, dtype=torch.float64)
    gradients = ops._deform_conv2d_backward(grad, *operands, *DEFORMED, True)
    for place, (operand, gradient) in enumerate(zip(operands, gradients)):
        step = 1e-6 * torch.randn_like(operand)

        def value(moved, place=place):
            given = [moved if at == place else other for at, other in enumerate(operands)]
            return (grad * ops.deform_conv2d(*given, *DEFORMED, True)).sum()

        slope = value(operand + step) - value(operand - step)
        torch.testing.assert_close(slope / 2e-6, (gradient * step).sum() / 1e-6, rtol=1e-6, atol=1e-6)
    with pytest.raises(RuntimeError, match=r"offset of shape \[2, 36, 3, 7\]"):
        ops.deform_conv2d(operands[0], operands[1], operands[2][:, :35], *operands[3:], *DEFORMED, True)


def test_boxes_that_lie_askew(ops):
    boxes = torch.tensor([[0.0, 0, 2, 2, 0], [0, 0, 2, 2, 45], [1, 1, 2, 2, 90], [9, 9, 1, 1, 3], [0, 0, 0, 3, 0]])
    octagon = 8 * (math.sqrt(2) - 1)  # what a square shares with itself turned
    wanted = torch.eye(5)
    wanted[4, 4] = 0  # without an area
    wanted[0, 1] = wanted[1, 0] = octagon / (8 - octagon)
    wanted[0, 2] = wanted[2, 0] = wanted[1, 2] = wanted[2, 1] = 1 / 7
    torch.testing.assert_close(ops.box_iou_rotated(boxes, boxes), wanted)
    turned = torch.rand(6, 5)
    turned[:, 4] *= 360
    around = turned.clone()  # all of them turned about the middle by a right angle
    around[:, 0], around[:, 1], around[:, 4] = turned[:, 1], -turned[:, 0], turned[:, 4] + 90
    torch.testing.assert_close(ops.box_iou_rotated(turned, turned), ops.box_iou_rotated(around, around))
    assert ops.box_iou_rotated(boxes[:0], boxes).shape == (0, 5)


def test_what_has_no_kernel_says_so(ops):
    with pytest.raises(NotImplementedError, match="torchvision::qnms"):
        ops.qnms(torch.ones(1, 4), torch.ones(1), 0.5)


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
