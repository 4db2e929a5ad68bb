"""TensorBoard's records of a curve's point, a picture and a histogram, with a description.

In: a tag and its value. Out: a `Summary` for `SummaryWriter.file_writer`. torch's `add_scalar` and
its siblings take no description.
"""

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard import summary

from alphazero.training.illustrations import Histogram

#: By the kind of a value: the plugin that shows it, and TensorBoard's class of its data.
_KINDS = {
    "simple_value": ("scalars", "DATA_CLASS_SCALAR"),
    "image": ("images", "DATA_CLASS_BLOB_SEQUENCE"),
    "histo": ("histograms", "DATA_CLASS_TENSOR"),
}


def scalar(tag: str, value: float) -> Summary:
    """Return a point of a curve."""
    return summary.scalar(tag, value)


def image(tag: str, pixels: np.ndarray) -> Summary:
    """Return a picture, uint8[H, W, 3]."""
    return summary.image(tag, pixels, dataformats="HWC")


def histogram(tag: str, values: Histogram) -> Summary:
    """Return a histogram."""
    edges = values.edges.tolist()
    return summary.histogram_raw(
        tag,
        min=edges[0],
        max=edges[-1],
        num=int(values.counts.sum()),
        sum=values.sum,
        sum_squares=values.sum_squares,
        # Each bin ends at its limit and begins at the limit before it.
        bucket_limits=edges,
        bucket_counts=[0, *values.counts.tolist()],
    )


def describe(record: Summary, text: str) -> None:
    """Add a description in Markdown to a record.

    TensorBoard's data server keeps the description only if the data class is set too.
    """
    plugin, data_class = _KINDS[record.value[0].WhichOneof("value")]
    metadata = record.value[0].metadata
    metadata.summary_description = text
    metadata.plugin_data.plugin_name, metadata.data_class = plugin, data_class
