"""Tensors made of values, sizes and ranges: what they are, and how bad input is refused, is PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import glassgrad
from tests.outcome import outcome

pytestmark = pytest.mark.torch

EXPRESSIONS = """
torch.tensor([[1,2],[3]])
torch.tensor('a')
torch.tensor(['a'])
torch.tensor([None])
torch.tensor(None)
torch.tensor([1,2.5])
torch.tensor([True,2])
torch.tensor([True,False])
torch.tensor([1,2j])
torch.tensor([])
torch.tensor([[],[]])
torch.tensor([[[]]])
torch.tensor(())
torch.tensor(2**63)
torch.tensor([2**63])
torch.tensor(-2**63)
torch.tensor(2**40)
torch.tensor(1.5)
torch.tensor(True)
torch.tensor(1j)
torch.tensor(1.5,dtype=torch.int)
torch.tensor([1.5],dtype=torch.int)
torch.tensor([-1.5],dtype=torch.uint8)
torch.tensor([math.nan],dtype=torch.int)
torch.tensor([math.inf],dtype=torch.int)
torch.tensor(math.nan,dtype=torch.int64)
torch.tensor(1e30,dtype=torch.int64)
torch.tensor(1e30,dtype=torch.float16)
torch.tensor(1e300,dtype=torch.float32)
torch.tensor(1e300)
torch.tensor([1e300])
torch.tensor(math.inf)
torch.tensor(300,dtype=torch.uint8)
torch.tensor(-1,dtype=torch.uint8)
torch.tensor(-300,dtype=torch.uint8)
torch.tensor([300],dtype=torch.int8)
torch.tensor([-129],dtype=torch.int8)
torch.tensor([70000],dtype=torch.int16)
torch.tensor([2**33],dtype=torch.int32)
torch.tensor(2**63,dtype=torch.uint64)
torch.tensor(2**64,dtype=torch.uint64)
torch.tensor(2**63,dtype=torch.float64)
torch.tensor(2**70,dtype=torch.float64)
torch.tensor(10**400,dtype=torch.float64)
torch.tensor(2,dtype=torch.bool)
torch.tensor([0,1,2.5],dtype=torch.bool)
torch.tensor([1j],dtype=torch.float32)
torch.tensor(1j,dtype=torch.int64)
torch.tensor(1j,dtype=torch.bool)
torch.tensor([1,2],dtype=torch.complex64)
torch.tensor([1.5,2],dtype=torch.bfloat16)
torch.tensor(70000,dtype=torch.float16)
torch.tensor(70000.,dtype=torch.float16)
torch.tensor([torch.tensor(1),2.0])
torch.tensor([torch.tensor(1.5),torch.tensor(2)])
torch.tensor([torch.tensor([1]),torch.tensor([2])])
torch.tensor([torch.ones(2),torch.ones(2)])
torch.tensor([torch.ones(1),torch.ones(1)])
torch.tensor([torch.ones(2,2)])
torch.tensor([[torch.tensor(1),2],[3,4]])
torch.tensor(np.float64(3))
torch.tensor(np.float32(3))
torch.tensor(np.int8(3))
torch.tensor(np.bool_(True))
torch.tensor(np.arange(3,dtype=np.int32))
torch.tensor(np.arange(6.).reshape(2,3).T)
torch.tensor(np.arange(3)[::-1])
torch.tensor(np.array(3.))
torch.tensor(np.array(['a']))
torch.tensor(np.array([None]))
torch.tensor(np.arange(3,dtype='>i4'))
torch.tensor(np.arange(3,dtype=np.uint16))
torch.tensor(np.arange(3.),dtype=torch.int32)
torch.tensor(np.array([math.nan,1e30]),dtype=torch.int64).shape
torch.tensor([np.float64(1),np.float64(2)])
torch.tensor([np.float32(1),np.float64(2)])
torch.tensor([np.int32(1),2])
torch.tensor([np.arange(3),np.arange(3)])
torch.tensor([np.arange(3.),[1,2,3]])
torch.tensor([np.array(1.),np.array(2.)])
torch.tensor((np.bool_(True),False))
torch.tensor({1:2})
torch.tensor({1,2})
torch.tensor(range(4))
torch.tensor([range(3),range(3)])
torch.tensor(b'ab')
torch.tensor(bytearray(b'ab'))
torch.tensor(torch.ones(2))
torch.tensor(torch.ones(2),dtype=torch.int64)
torch.tensor(torch.ones(2,3).t())
torch.tensor([1.,2.],requires_grad=True)
torch.tensor([1,2],requires_grad=True)
torch.tensor(1.,requires_grad=True)
torch.tensor([1.],device='meta')
torch.tensor([1.],device='cpu')
torch.tensor([1.],device='cuda')
torch.tensor([1.],device='cpu:0').device
torch.tensor([1.],device=3)
torch.tensor([1.],dtype='float32')
torch.tensor([1.],dtype=float)
torch.tensor([1.],dtype=int)
torch.tensor([1.],dtype=np.float32)
torch.tensor([1.],dtype=torch.float64,pin_memory=False)
torch.tensor(data=[1])
torch.tensor([1],[2])
torch.tensor([1],foo=2)
torch.tensor([[1,2],3])
torch.tensor([1,[2,3]])
torch.tensor([[1,2],[3,'a']])
torch.tensor([[[1],[2]],[[3]]])
torch.tensor([[1],[2,3]])
torch.tensor([1,(2,)])
torch.tensor([[1,2],(3,4)])
torch.tensor([[1,2],np.array([3,4])])
torch.tensor([0.1]*3+[1]).dtype
torch.tensor([[True],[2.5]])
torch.tensor([1+2j,1.5])
torch.tensor([-0.0])
torch.tensor([1e-45,1e38,3.4e39])
torch.as_tensor([1,2])
torch.as_tensor([1,2],dtype=torch.float64)
torch.as_tensor(3)
torch.as_tensor(np.arange(3)[::-1])
torch.as_tensor([1.],device='meta')
torch.asarray([1,2])
torch.asarray(3)
torch.asarray([1,2],copy=False)
torch.asarray([1.,2],requires_grad=True)
torch.asarray([1,2],requires_grad=True)
torch.asarray(b'abcdefgh',dtype=torch.float32)
torch.asarray(np.float32(3))
torch.from_numpy([1])
torch.from_numpy(np.array(['a']))
torch.from_numpy(np.arange(4)[::-1])
torch.from_numpy(np.array(3.))
torch.from_numpy(np.arange(3,dtype='>f4'))
torch.from_numpy(np.arange(6.).reshape(2,3).T)
torch.from_numpy(np.arange(3,dtype=np.uint32))
torch.from_numpy(np.broadcast_to(np.ones(1),(3,)))
torch.from_numpy(np.float32(3))
torch.from_numpy(np.ma.array([1.,2]))
torch.from_numpy(np.zeros(3,dtype=[('a','f4'),('b','i4')])['b'])
torch.frombuffer(bytearray(np.arange(4,dtype='f4').tobytes()),dtype=torch.float32)
torch.frombuffer(bytearray(np.arange(4,dtype='f4').tobytes()),dtype=torch.float32,count=2,offset=4)
torch.frombuffer(bytearray(b'abcd'),dtype=torch.uint8,requires_grad=True)
torch.frombuffer(bytearray(b'abcde'),dtype=torch.float32)
torch.frombuffer(bytearray(b''),dtype=torch.uint8)
torch.scalar_tensor(3)
torch.scalar_tensor(3,dtype=torch.int64)
torch.scalar_tensor(True)
torch.scalar_tensor(1j)
torch.zeros(2,3)
torch.zeros((2,3))
torch.zeros([2,3])
torch.zeros(-1)
torch.zeros(2,-1)
torch.zeros('a')
torch.zeros(2.5)
torch.zeros((2.5,))
torch.zeros(2,2.5)
torch.zeros((2,'a'))
torch.zeros()
torch.zeros(size=(2,))
torch.zeros([])
torch.zeros(())
torch.zeros(None)
torch.zeros(True)
torch.zeros(np.int64(2),3)
torch.zeros((np.int32(2),3))
torch.zeros(torch.tensor(2),3)
torch.zeros((torch.tensor(2),3))
torch.zeros(torch.tensor([2]))
torch.zeros([2],[3])
torch.zeros(np.array([2,3]))
torch.zeros(range(2))
torch.zeros(10**10,10**10)
torch.ones(-1)
torch.full((-1,),2)
torch.zeros(2,dtype=float)
torch.ones(2,dtype=int)
torch.ones(2,dtype=bool)
torch.ones(2,dtype='f4')
torch.ones(2,dtype=torch.bfloat16)
torch.ones(2,dtype=torch.complex64)
torch.zeros(2,device='cuda')
torch.zeros(2,device='xyz')
torch.zeros(2,device='meta')
torch.zeros(2,device=torch.device('meta'))
torch.zeros(2,device=3)
torch.zeros(2,device=None)
torch.zeros(10**9,10**8,device='meta').shape
torch.zeros(2,requires_grad=True,dtype=torch.long)
torch.zeros(2,requires_grad=True)
torch.zeros(2,layout=torch.strided)
torch.zeros(2,layout=3)
torch.zeros(2,pin_memory=False)
torch.zeros(2,out=torch.ones(2))
torch.zeros(2,out=torch.ones(3))
torch.zeros(2,out=torch.ones(2,dtype=torch.int64))
torch.zeros(2,out=torch.ones(2,dtype=torch.int64),dtype=torch.float32)
torch.zeros(2,out=3)
torch.zeros(2,names=None)
torch.zeros(2,foo=1)
torch.zeros(2,memory_format=torch.contiguous_format)
torch.ones(2,3,memory_format=torch.channels_last)
torch.ones(2,out=torch.zeros(2))
torch.empty_strided((2,2),(1,2)).stride()
torch.empty_strided((2,2),(1,2),dtype=torch.float64,requires_grad=True).requires_grad
torch.empty_strided((2,2),(1,))
torch.empty_strided((2,2),(-1,1))
torch.empty_strided((2,2),(0,1)).stride()
torch.empty_strided((2,0),(5,1)).stride()
torch.empty_permuted((2,3,4),(2,0,1)).stride()
torch.full((2,),3)
torch.full((2,),3.5)
torch.full((2,),True)
torch.full((2,),1j)
torch.full(2,3)
torch.full((),3)
torch.full([2],3)
torch.full((2,),'a')
torch.full((2,),None)
torch.full((2,),[1])
torch.full((2,),torch.tensor(3.))
torch.full((2,),torch.tensor([3.]))
torch.full((2,),torch.ones(2))
torch.full((2,),3,dtype=torch.float64)
torch.full((2,),3.7,dtype=torch.int64)
torch.full((2,),300,dtype=torch.uint8)
torch.full((2,),-1,dtype=torch.uint8)
torch.full((2,),math.nan,dtype=torch.int64)
torch.full((2,),2**63)
torch.full((2,),1j,dtype=torch.float32)
torch.full((2,),2,dtype=torch.bool)
torch.full((2,),3,out=torch.zeros(2))
torch.full((2,),3.5,out=torch.zeros(2,dtype=torch.int64))
torch.full((2,),3,requires_grad=True)
torch.full((2,),3.,requires_grad=True)
torch.full((2,),3.,device='meta')
torch.full(size=(2,),fill_value=3)
torch.full((2,),np.float32(3))
torch.full((2,),np.int64(3))
torch.zeros_like(torch.ones(2,3).t())
torch.zeros_like(torch.ones(2,3).t(),memory_format=torch.contiguous_format)
torch.zeros_like(torch.ones(2,6)[:,::2])
torch.zeros_like(torch.ones(6,2)[::2].t())
torch.zeros_like(torch.ones(1).expand(3,2))
torch.zeros_like(torch.ones(3,1).expand(3,2))
torch.zeros_like(torch.ones(2,3,4).permute(2,0,1))
torch.zeros_like(torch.ones(1,2,3,4).to(memory_format=torch.channels_last))
torch.zeros_like(torch.ones(2),dtype=torch.int64)
torch.zeros_like(torch.ones(2,dtype=torch.bfloat16))
torch.zeros_like(torch.ones(()))
torch.zeros_like(torch.ones(2,dtype=torch.int64),requires_grad=True)
torch.zeros_like(3)
torch.zeros_like([1])
torch.ones_like(3)
torch.empty_like(3)
torch.full_like(3,1)
torch.zeros_like(torch.ones(2),device='meta')
torch.zeros_like(torch.ones(2,device='meta'))
torch.zeros_like(torch.ones(2,device='meta'),device='cpu')
torch.zeros_like(torch.ones(2),layout=torch.strided,pin_memory=False)
torch.zeros_like(input=torch.ones(2))
torch.ones_like(torch.zeros(2))
torch.full_like(torch.ones(2),3)
torch.full_like(torch.ones(2),3.5,dtype=torch.int64)
torch.full_like(torch.ones(2,dtype=torch.int64),3.5)
torch.full_like(torch.ones(2),torch.tensor(4))
torch.full_like(torch.ones(2,3).t(),3).stride()
torch.full_like(torch.ones(2,dtype=torch.uint8),300)
torch.full_like(torch.ones(2),1j)
torch.empty_like(torch.ones(2,3).t()).stride()
torch.empty_like(torch.ones(2,3),dtype=torch.float64,requires_grad=True).requires_grad
torch.arange(5)
torch.arange(0)
torch.arange(5.)
torch.arange(5.5)
torch.arange(0,1,0.25)
torch.arange(5,0)
torch.arange(5,5)
torch.arange(1,2.5)
torch.arange(3,0,-1)
torch.arange(0,3,-1)
torch.arange(1,5,0)
torch.arange(-3)
torch.arange(start=1,end=5,step=2)
torch.arange(end=3)
torch.arange(1,end=4)
torch.arange(1,4,step=2)
torch.arange(start=2,end=4)
torch.arange(start=2)
torch.arange()
torch.arange(1,2,3,4)
torch.arange('a')
torch.arange(None)
torch.arange(math.nan)
torch.arange(math.inf)
torch.arange(0,1,math.nan)
torch.arange(0,5,math.inf)
torch.arange(5,dtype=torch.float32)
torch.arange(5.5,dtype=torch.int64)
torch.arange(0.5,3,dtype=torch.int64)
torch.arange(5,dtype=torch.uint8)
torch.arange(300,dtype=torch.uint8)[-1]
torch.arange(5,dtype=torch.bool)
torch.arange(2,dtype=torch.bool)
torch.arange(5,dtype=torch.bfloat16)
torch.arange(5,dtype=torch.float16)
torch.arange(3,dtype=torch.complex64)
torch.arange(torch.tensor(3))
torch.arange(torch.tensor(3.))
torch.arange(torch.tensor(3),torch.tensor(5))
torch.arange(np.int64(3))
torch.arange(np.float64(3))
torch.arange(True)
torch.arange(0,2,1,out=torch.zeros(2))
torch.arange(3,out=torch.zeros(3,dtype=torch.int64))
torch.arange(3,out=torch.zeros(1))
torch.arange(3,requires_grad=True)
torch.arange(3.,requires_grad=True)
torch.arange(3.,device='meta')
torch.arange(0,1,0.1)
torch.arange(0,0.3,0.1)
torch.arange(1,2,0.1,dtype=torch.float64)
torch.arange(2**40,2**40+2)
torch.arange(2**63)
torch.arange(0,1,1e-20)
torch.arange(3j)
torch.arange(1,10,2.5,dtype=torch.int64)
torch.range(0,3)
torch.range(0,1,0.25)
torch.range(1,4,2)
torch.range(4,1)
torch.range(3,0,-1)
torch.range(0,3,dtype=torch.int64)
torch.linspace(0,1,5)
torch.linspace(0,1,1)
torch.linspace(0,1,0)
torch.linspace(0,1,-1)
torch.linspace(0,1)
torch.linspace(1,0,3)
torch.linspace(0,10,4)
torch.linspace(0,10,7)
torch.linspace(-3,7,11)
torch.linspace(0,1,7,dtype=torch.float64)
torch.linspace(0,10,5,dtype=torch.int64)
torch.linspace(0,10,4,dtype=torch.int64)
torch.linspace(0,10,4,dtype=torch.uint8)
torch.linspace(0,1,5,dtype=torch.bfloat16)
torch.linspace(0,1,5,dtype=torch.float16)
torch.linspace(0,1j,3)
torch.linspace(0,1,3,dtype=torch.complex64)
torch.linspace(torch.tensor(0.),torch.tensor(1.),3)
torch.linspace(torch.tensor(0.),1,3)
torch.linspace(torch.ones(2),1,3)
torch.linspace(0,1,2.5)
torch.linspace(0,1,steps=3)
torch.linspace(start=0,end=1,steps=3)
torch.linspace(0,1,3,requires_grad=True)
torch.linspace(0,1,3,out=torch.zeros(3))
torch.linspace(0,1,3,device='meta')
torch.linspace(0,1,3,dtype=torch.bool)
torch.linspace(math.nan,1,3)
torch.logspace(0,2,3)
torch.logspace(0,2,5)
torch.logspace(0,2,1)
torch.logspace(0,2,0)
torch.logspace(0,2,-1)
torch.logspace(0,3,4,base=2)
torch.logspace(0,3,4,2)
torch.logspace(0,2,3,dtype=torch.float64)
torch.logspace(0,2,3,dtype=torch.int64)
torch.logspace(-10,10,5)
torch.logspace(0,1,3,dtype=torch.bfloat16)
torch.logspace(0,2,3,out=torch.zeros(3))
torch.logspace(0,2,3,base=-2)
torch.eye(2)
torch.eye(2,3)
torch.eye(3,2)
torch.eye(0)
torch.eye(-1)
torch.eye(2,-1)
torch.eye(2.5)
torch.eye(2,dtype=torch.int64)
torch.eye(2,dtype=torch.bool)
torch.eye(2,dtype=torch.bfloat16)
torch.eye(2,out=torch.zeros(2,2))
torch.eye(2,requires_grad=True)
torch.eye(n=2,m=3)
torch.eye(2,device='meta')
torch.Tensor([1,2])
torch.Tensor([1.5,2])
torch.Tensor([True])
torch.Tensor(())
torch.Tensor([])
torch.Tensor()
torch.Tensor(3).shape
torch.Tensor(2.5)
torch.Tensor('a')
torch.Tensor(None)
torch.Tensor((2,3)).shape
torch.Tensor(torch.ones(2))
torch.Tensor(torch.ones(2,dtype=torch.int64))
torch.Tensor(torch.ones(2,dtype=torch.float64))
torch.Tensor(np.arange(3))
torch.Tensor(np.arange(3.))
torch.Tensor([[1,2],[3]])
torch.Tensor(2,2.5)
torch.Tensor([1],device='cpu')
torch.Tensor(2,device='cuda')
torch.Tensor(-1)
torch.Tensor(True)
torch.Tensor(np.int64(2)).shape
torch.Tensor([2**70])
torch.Tensor([1e300])
torch.Tensor(range(3))
torch.Tensor({1:2})
torch.FloatTensor([1,2])
torch.FloatTensor(2,3).shape
torch.FloatTensor(torch.ones(2))
torch.FloatTensor(torch.ones(2,dtype=torch.int64))
torch.FloatTensor()
torch.LongTensor([1,2])
torch.LongTensor(2).shape
torch.LongTensor([1.5])
torch.LongTensor([math.nan])
torch.LongTensor([True])
torch.LongTensor(torch.ones(2))
torch.ByteTensor([1,255])
torch.ByteTensor([300])
torch.ByteTensor([-1])
torch.BoolTensor([0,1,2])
torch.BoolTensor([True,False])
torch.DoubleTensor([1,2])
torch.HalfTensor([1,2])
torch.BFloat16Tensor([1,2])
torch.IntTensor([1,2])
torch.ShortTensor([1,2])
torch.CharTensor([1,-2])
torch.LongTensor(np.arange(3))
torch.LongTensor(np.arange(3.))
torch.FloatTensor(np.arange(3))
isinstance(torch.ones(2),torch.FloatTensor)
isinstance(torch.ones(2),torch.DoubleTensor)
isinstance(torch.ones(2,dtype=torch.int64),torch.LongTensor)
isinstance(3,torch.FloatTensor)
isinstance(torch.ones(2),torch.Tensor)
torch.FloatTensor
torch.LongTensor
torch.FloatTensor.dtype
torch.FloatTensor.__name__
torch.ones(2).type()
torch.ones(2,dtype=torch.bfloat16).type()
torch.ones(2).type(torch.LongTensor)
torch.ones(2).type('torch.LongTensor')
torch.ones(2).type(torch.float64)
torch.ones(2).type('torch.FooTensor')
torch.ones(2,3).new_zeros(2)
torch.ones(2,3,dtype=torch.int64).new_zeros((2,2))
torch.ones(2,3).new_ones(2,dtype=torch.int64)
torch.ones(2,3).new_full((2,),3)
torch.ones(2,dtype=torch.int64).new_full((2,),3.7)
torch.ones(2,3).new_empty_strided((2,3),(1,2)).stride()
torch.ones(2,3).new_tensor([1,2])
torch.ones(2,3).new_tensor(3)
torch.ones(2,3).new_tensor([1,2],dtype=torch.int64,requires_grad=False)
torch.ones(2,3).new_tensor([1,2],requires_grad=True)
torch.ones(2,3,dtype=torch.int64).new_tensor([1.7])
torch.ones(2,3).new_tensor(torch.ones(2))
torch.ones(2,3).new_zeros(2,requires_grad=True)
torch.ones(2,3).new_zeros(2,device='meta')
torch.ones(2,device='meta').new_zeros(2)
torch.ones(2,device='meta').new_tensor([1.])
torch.ones(2).new_zeros()
torch.ones(2).new_zeros(2.5)
torch.ones(2).new_zeros(-1)
torch.ones(2).new_zeros(size=(2,))
torch.ones(2).new([1,2])
torch.ones(2).new(2,3).shape
torch.ones(2).new()
torch.ones(2,dtype=torch.int64).new([1,2])
torch.eye(2).requires_grad
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_torch(expression):
    """Value, dtype, strides, or error and its words."""
    from tests.torch_reference import torch

    assert outcome(expression, glassgrad) == outcome(expression, torch)


class Index:
    """A thing that can be an index but is no number."""

    def __index__(self):
        return 3


class Sequence:
    """A sequence that is neither list nor tuple."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        if index > 1:
            raise IndexError
        return index + 1.5


STRANGE = ["torch.tensor(x)", "torch.tensor([x, x])", "torch.zeros(x)", "torch.full((2,), x)"]


@pytest.mark.parametrize("expression", STRANGE)
@pytest.mark.parametrize("thing", [Index(), Sequence(), object(), {1, 2}, iter([1, 2])], ids=lambda x: type(x).__name__)
def test_strangers(expression, thing):
    """Objects that look like numbers or sequences count as what PyTorch takes them for."""
    from tests.torch_reference import torch

    assert outcome(expression, glassgrad, x=thing) == outcome(expression, torch, x=thing)


SHARING = {
    "from_numpy": lambda torch, a: torch.from_numpy(a),
    "as_tensor": lambda torch, a: torch.as_tensor(a),
    "as_tensor-cast": lambda torch, a: torch.as_tensor(a, dtype=torch.float32),
    "asarray": lambda torch, a: torch.asarray(a),
    "asarray-copy": lambda torch, a: torch.asarray(a, copy=True),
    "tensor": lambda torch, a: torch.tensor(a),
    "Tensor": lambda torch, a: torch.Tensor(torch.from_numpy(a)),
}


@pytest.mark.parametrize("make", SHARING.values(), ids=SHARING)
@pytest.mark.parametrize("shape", [(3,), (2, 2), ()], ids=str)
def test_memory_is_shared_where_torch_shares_it(make, shape):
    """A later write to the array shows in the tensor, or does not."""
    from tests.torch_reference import torch

    shown = []
    for engine in (glassgrad, torch):
        array = np.ones(shape)
        made = make(engine, array)
        array[...] = 7
        shown.append(made.tolist())
    assert shown[0] == shown[1]


@pytest.mark.parametrize("function", ["zeros", "ones", "empty"])
def test_impossible_sizes(function):
    """Memory that is not there is asked for in vain, in PyTorch's words."""
    from tests.torch_reference import torch

    for size in ("10**15", "10**18", "(10**10, 10**10)"):
        expression = f"torch.{function}({size})"
        mine, theirs = outcome(expression, glassgrad), outcome(expression, torch)
        assert mine[0] == theirs[0]
        assert mine[1].split(" err == 0.")[-1] == theirs[1].split(" err == 0.")[-1]


def test_out_is_filled_in_its_own_dtype():
    """``out=`` keeps identity and dtype, and its version counts the write."""
    target = glassgrad.ones(3, dtype=glassgrad.int64)
    assert glassgrad.zeros(3, out=target) is target
    assert target.dtype is glassgrad.int64 and target._version == 1 and target.tolist() == [0, 0, 0]


def test_defaults_decide():
    """The default dtype and device are those of new tensors."""
    glassgrad.set_default_dtype(glassgrad.float64)
    try:
        made = [glassgrad.zeros(1), glassgrad.tensor(1.0), glassgrad.arange(2.0), glassgrad.linspace(0, 1, 2)]
        made += [glassgrad.Tensor([1]), glassgrad.full((1,), 1.0), glassgrad.rand(1), glassgrad.eye(1)]
        assert {one.dtype for one in made} == {glassgrad.float64}
        assert glassgrad.tensor(1j).dtype is glassgrad.complex128
    finally:
        glassgrad.set_default_dtype(glassgrad.float32)
    with glassgrad.device("meta"):
        made = [glassgrad.zeros(2), glassgrad.tensor([1.0]), glassgrad.arange(3), glassgrad.rand(2)]
        made.append(glassgrad.randperm(3))
        assert {one.device.type for one in made} == {"meta"}
        assert glassgrad.zeros_like(glassgrad.ones(2, device="cpu")).device.type == "cpu"


def test_a_tensor_of_a_tensor_warns():
    """Copying a tensor by a constructor is advised against."""
    source = glassgrad.ones(2)
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        glassgrad.tensor(source)
    with pytest.warns(UserWarning, match=r"rather than tensor\.new_tensor"):
        source.new_tensor(source)


def test_meta_tensors_are_joined_where_their_sizes_add_up_to_another_s():
    a, b = glassgrad.empty(64, 32, device="meta"), glassgrad.empty(128, 64, device="meta")
    assert glassgrad.cat([a, a], -1).shape == (64, 64) and glassgrad.cat([b, b], 1).shape == (128, 128)
    assert glassgrad.cat([a, glassgrad.empty(0, device="meta"), a]).shape == (128, 32)


def test_meta_tensors_have_shapes_of_any_size():
    """No memory is needed for shapes only, whatever is computed with them."""
    x = glassgrad.ones(10**6, 10**6, device="meta", requires_grad=True)
    w = glassgrad.ones(10**6, 3, device="meta", requires_grad=True)
    y = (x @ w).exp().sum(0)
    assert y.shape == (3,) and y.device.type == "meta"
    y.sum().backward()
    assert x.grad.shape == x.shape and w.grad.shape == w.shape and x.grad.device.type == "meta"
    assert glassgrad.cat([x, x]).shape == (2 * 10**6, 10**6)
    assert x.t().reshape(-1).shape == (10**12,)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        x.cpu()
    with pytest.raises(RuntimeError, match=r"Tensor\.item\(\) cannot be called on meta tensors"):
        y.sum().item()
    with pytest.raises(RuntimeError, match="Tensor on device cpu is not on the expected device meta!"):
        y + glassgrad.ones(3)


def test_a_number_that_met_a_meta_tensor_is_a_number_afterwards():
    for dtype in (glassgrad.float32, glassgrad.float64, glassgrad.int64):
        nowhere, here = glassgrad.ones(3, dtype=dtype, device="meta"), glassgrad.ones(3, dtype=dtype)
        assert (nowhere * 7919).device.type == "meta" and (here * 7919).tolist() == [7919] * 3
        assert (nowhere + 0.71875).dtype is (here + 0.71875).dtype and (here + 0.71875).tolist() == [1.71875] * 3
