"""The class that ops become methods of; `raxis.ops.table` fills it, the stub beside it lists them."""


class TensorMethods:
    """Base of Tensor: every method derived from the op table."""
