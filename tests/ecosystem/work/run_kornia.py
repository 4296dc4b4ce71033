"""kornia: filters, colours, geometry, losses and augmentations of images, with gradients."""

import kornia
import torch
from kornia import augmentation as K
from shown import show

torch.manual_seed(0)
image = torch.rand(2, 3, 16, 16, requires_grad=True)
show("blurred", kornia.filters.gaussian_blur2d(image, (3, 3), (1.0, 1.0)))
show("edges", kornia.filters.sobel(image))
show("canny", kornia.filters.canny(image)[0])
show("hsv", kornia.color.rgb_to_hsv(image))
show("lab", kornia.color.rgb_to_lab(image))
show("turned", kornia.geometry.rotate(image, torch.tensor([30.0, -10.0])))
corners = torch.tensor([[[0.0, 0], [15, 0], [15, 15], [0, 15]]]).expand(2, -1, -1)
matrix = kornia.geometry.get_perspective_transform(corners, corners + torch.rand(2, 4, 2))
warped = kornia.geometry.warp_perspective(image, matrix, (16, 16))
show("warped", warped)
loss = kornia.losses.ssim_loss(warped, image.detach(), 5) + kornia.losses.total_variation(warped).mean()
loss.backward()
show("loss", loss)
show("gradient", image.grad)
show("corners", kornia.feature.harris_response(image.detach().mean(1, keepdim=True)))
show("hull", kornia.morphology.dilation(image.detach(), torch.ones(3, 3)))
show("quaternion", kornia.geometry.conversions.axis_angle_to_rotation_matrix(torch.rand(2, 3)))
steps = K.AugmentationSequential(
    K.RandomHorizontalFlip(p=0.5), K.RandomAffine(20, p=1.0), K.ColorJiggle(0.1, 0.1, 0.1, 0.1, p=1.0),
    data_keys=["input", "mask"],
)  # fmt: skip
torch.manual_seed(1)
augmented, mask = steps(image.detach(), (image.detach()[:, :1] > 0.5).float())
show("augmented", augmented)
show("mask", mask.sum())
