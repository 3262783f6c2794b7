"""The Tensor: storage, offset, layout and a place on the tape.

Most methods are the ops themselves, attached from the op table to `TensorMethods`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from raxis.device import Device
from raxis.dtypes import DType
from raxis.interception import active, anyone
from raxis.layout import Layout
from raxis.memory_format import layout as StorageLayout
from raxis.memory_format import strided
from raxis.protocols import Protocols
from raxis.size import Size
from raxis.storage import Storage

if TYPE_CHECKING:
    from raxis.autograd.handle import RemovableHandle
    from raxis.autograd.node import Edge, Node


class Tensor(Protocols):
    """A multi-dimensional array of one dtype on one device.

    Make tensors with `raxis.tensor`, `raxis.zeros`, `raxis.from_numpy` and the like.

    Example:
        >>> import raxis
        >>> raxis.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(dim=0)
        tensor([4., 6.])
    """

    _storage: Storage
    _offset: int
    _layout: Layout
    _edge: Edge | None = None
    """Where the gradient of this tensor goes; None when it requires none."""
    _base: Tensor | None = None
    _rebased: int = 0
    """How often an in-place write replaced `_edge`; views compare it."""
    _grad: Tensor | None = None
    _inference: bool = False
    _retains_grad: bool = False

    __array_priority__ = 1000

    def __new__(cls, *arguments: Any, device: Device | str | None = None) -> Tensor:
        """PyTorch's old constructor; new code says `raxis.tensor` or `raxis.empty`."""
        from raxis.construction import constructed

        made = constructed(arguments, device)
        tensor = object.__new__(cls)
        tensor._storage, tensor._offset, tensor._layout = made._storage, made._offset, made._layout
        return tensor

    # ---- description -------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The size of every dimension."""
        size = self._layout.size
        return active.recording.shown(size) if anyone.records and active.recording is not None else size

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._layout.dtype

    @property
    def device(self) -> Device:
        """The device the storage lives on."""
        return self._layout.device

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._layout.ndim

    @property
    def layout(self) -> StorageLayout:
        """How elements are stored: always ``raxis.strided``."""
        return strided

    @property
    def is_sparse(self) -> bool:
        """False: all tensors are strided."""
        return False

    @property
    def is_quantized(self) -> bool:
        """False: there are no quantized dtypes."""
        return False

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._layout.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, dense."""
        nbytes = self._layout.nbytes
        return active.recording.shown(nbytes) if anyone.records and active.recording is not None else nbytes

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor lives on a CUDA device."""
        return self._layout.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor lives in host memory."""
        return self._layout.device.type == "cpu"

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has no values (``device='meta'``)."""
        return self._layout.device.type == "meta"

    # ---- tape --------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor.

        Raises:
            RuntimeError: on setting it on a non-leaf to False, or to True on an integer tensor.
        """
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        _leaf().set_requires_grad(self, bool(value))

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op produced this tensor."""
        edge = self._edge
        return edge is None or edge[0].is_accumulator

    @property
    def grad_fn(self) -> Node | None:
        """The node that produced this tensor; None for leaves."""
        edge = self._edge
        return None if edge is None or edge[0].is_accumulator else edge[0]

    @property
    def output_nr(self) -> int:
        """Which result of its node this tensor is."""
        edge = self._edge
        return 0 if edge is None else edge[1]

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, same shape, dtype and device; None before backward."""
        if anyone.records and active.recording is not None:
            active.recording.note_grad(self)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _leaf().check_grad(self, value)
        if anyone.records and active.recording is not None:
            active.recording.note_grad(self)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self) -> Tensor:
        """A tensor over the same memory that is not on the tape; assigning replaces memory, shape and dtype."""
        shared = wrap(self._storage, self._offset, self._layout)
        if anyone.records and active.recording is not None:
            active.recording.note_made(shared)
        return shared

    @data.setter
    def data(self, value: Tensor) -> None:
        from raxis.autograd.leaf import set_data

        set_data(self, value)

    @property
    def _version(self) -> int:
        return self._storage.version

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` in place; the tensor itself is returned."""
        _leaf().set_requires_grad(self, bool(requires_grad))
        return self

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to the ``grad`` of the leaves; see `raxis.autograd.backward`."""
        _gradients().backward(self, gradient, retain_graph, create_graph, inputs)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook` with the gradient of this tensor; a returned tensor replaces it.

        Raises:
            RuntimeError: if the tensor does not require grad.
        """
        from raxis.autograd.hooks import register_hook

        return register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook` with this leaf each time its ``grad`` was added to.

        Raises:
            RuntimeError: if the tensor is not a leaf that requires grad.
        """
        from raxis.autograd.hooks import register_accumulate_hook

        return register_accumulate_hook(self, hook)

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``grad``.

        Raises:
            RuntimeError: if the tensor does not require grad.
        """
        from raxis.autograd.hooks import retain_grad

        retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this non-leaf."""
        return self._retains_grad

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return self._inference

    # ---- sequence ----------------------------------------------------------------------------------

    def __delitem__(self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __len__(self) -> int:
        if self._layout.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        length = self._layout.shape[0]
        return active.recording.shown(length) if anyone.records and active.recording is not None else length

    def __iter__(self) -> Iterator[Tensor]:
        if self._layout.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __hash__(self) -> int:
        return id(self)

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()))


class View(Tensor):
    """A tensor that shares the storage of its base.

    Its edge follows the base: when the base (or another view of it) was written in place under the tape,
    the edge made by the view op is out of date and is made anew from the base's.
    """

    _own_edge: Edge | None = None
    _seen: int = 0
    _one_of_many: str | None = None
    """The op that made this view along with others; such views are not written in place under the tape."""

    @property
    def _edge(self) -> Edge | None:
        base = self._base
        if base is not None and base._rebased != self._seen:
            from raxis.autograd.inplace import edge_from_base

            self._own_edge = edge_from_base(self, base)
            self._seen = base._rebased
        return self._own_edge

    @_edge.setter
    def _edge(self, edge: Edge | None) -> None:
        self._own_edge = edge


# Modules that import this one, looked up once: an import statement takes longer than what they do.
@functools.cache
def _gradients() -> ModuleType:
    from raxis.autograd import gradients

    return gradients


@functools.cache
def _leaf() -> ModuleType:
    from raxis.autograd import leaf

    return leaf


blank: Callable[[], Tensor] = functools.partial(object.__new__, Tensor)
"""A tensor without any attribute; the quickest way to make one."""
blank_view: Callable[[], View] = functools.partial(object.__new__, View)
"""The same for views."""


def wrap(storage: Storage, offset: int, layout: Layout) -> Tensor:
    """A tensor over existing memory."""
    tensor = blank()
    tensor._storage = storage
    tensor._offset = offset
    tensor._layout = layout
    tensor._edge = None
    return tensor


def view_of(tensor: Tensor, layout: Layout, offset: int) -> View:
    """A view of `tensor` at an absolute element offset, not recorded on the tape."""
    view = blank_view()
    view._storage = tensor._storage
    view._offset = offset
    view._layout = layout
    base = tensor if tensor._base is None else tensor._base
    view._base = base
    if base._rebased:
        view._seen = base._rebased
    return view
