"""The style sheets: Okabe-Ito colours, light and dark, narrow screens, projectors, and A4 paper."""

from importlib import resources

LIGHT = """
  --paper: #ffffff; --ink: #1b1f23; --soft: #4d565f; --line: #c9d0d6; --panel: #f3f5f7;
  --bar: #0072b2; --track: #e3e8ec; --good: #009e73; --bad: #d55e00; --caution: #a87300;
"""
DARK = """
  --paper: #15191d; --ink: #e8ebee; --soft: #aeb7bf; --line: #424b54; --panel: #20262c;
  --bar: #56b4e9; --track: #323a42; --good: #009e73; --bad: #e69f00; --caution: #f0e442;
"""
_FILES = (resources.files("shoal.present.html") / f"{name}.css" for name in ("page", "lattice", "scatter"))
STYLE, LATTICE_STYLE, SCATTER_STYLE = (
    file.read_text(encoding="utf-8").replace("/*light*/", LIGHT).replace("/*dark*/", DARK) for file in _FILES
)
