"""Tables in and out: files, DataFrames, canonical text, and outputs that appear together or not at all."""

from shoal.io.frames import FrameKind, frame_names, from_arrow, is_frame, to_arrow
from shoal.io.read import column_names, read_batches, read_table, separator_hint
from shoal.io.staging import Staged, check_outputs
from shoal.io.write import sha256_of, write_table, write_tables, writer_of
from shoal.policy.data_source import DataSource, release_source
from shoal.policy.file_kinds import FileKind, base_name, readable_suffixes, sniff_kind
from shoal.policy.location import DatabaseTable, Location, parse_location
from shoal.table.canonical_text import canonical_text, encode, in_order_of_cells, in_order_of_content, order_of_content

__all__ = [
    "DataSource", "DatabaseTable", "FileKind", "FrameKind", "Location", "Staged", "base_name", "canonical_text",
    "check_outputs", "column_names", "encode", "frame_names", "from_arrow", "in_order_of_cells",
    "in_order_of_content", "is_frame", "order_of_content", "parse_location", "read_batches", "read_table",
    "readable_suffixes", "release_source", "separator_hint", "sha256_of", "sniff_kind", "to_arrow",
    "write_table", "write_tables", "writer_of",
]  # fmt: skip
