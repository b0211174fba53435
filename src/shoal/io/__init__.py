"""Tables in and out: files, DataFrames, canonical text, and outputs that appear together or not at all."""

from shoal.io.frames import Kind, frame_names, from_arrow, is_frame, to_arrow
from shoal.io.order import in_order_of_cells, in_order_of_content, order_of_content
from shoal.io.read import column_names, read_table, separator_hint
from shoal.io.source import DataSource, release_source
from shoal.io.staged import Staged, check_outputs
from shoal.io.text import canonical_text, encode
from shoal.io.write import check_table_suffix, write_table

__all__ = [
    "DataSource",
    "Kind",
    "Staged",
    "canonical_text",
    "check_outputs",
    "check_table_suffix",
    "column_names",
    "encode",
    "frame_names",
    "from_arrow",
    "in_order_of_cells",
    "in_order_of_content",
    "is_frame",
    "order_of_content",
    "read_table",
    "release_source",
    "separator_hint",
    "to_arrow",
    "write_table",
]
