"""The file formats by kind. A new format is a file of this package and its entry here."""

from collections.abc import Mapping

from shoal.io.formats.csv_file import CSV
from shoal.io.formats.excel import EXCEL
from shoal.io.formats.file_format import FileFormat
from shoal.io.formats.parquet_file import PARQUET
from shoal.io.formats.spss_sas_stata import STATISTICS
from shoal.policy.file_kinds import FileKind

_ALL = (CSV, PARQUET, EXCEL, STATISTICS)
FORMATS: Mapping[FileKind, FileFormat] = {kind: each for each in _ALL for kind in each.kinds}
