"""The check of a built site finds dead links, dead anchors and assets from other hosts, and nothing else."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from support.pages import ROOT
from support.scripts import load_script


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_script(ROOT / "tools" / "check_site.py")


def site(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_html", ".html").replace("_css", ".css")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def test_a_sound_site_has_no_problem(tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site(
        tmp_path,
        index_html='<link rel="stylesheet" href="s.css"><a href="a/b.html#x">1</a><a href="#">2</a><a href="/">3</a>',
        a__b_html='<h1 id="x">b</h1><a href="../index.html">1</a><a href="https://example.org/gone">2</a>',
        s_css='a { background: url("data:image/png;base64,AA==") } b { mask: url(#clip) }',
    )
    assert tool.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "2 pages, 5 links (1 to other hosts, not followed): 0 problems.\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('<a href="gone.html">1</a>', "index.html: gone.html leads nowhere"),
        ('<a href="../outside.html">1</a>', "index.html: ../outside.html leads nowhere"),
        ('<a href="#gone">1</a>', "index.html: #gone names an anchor that is not there"),
        ('<img src="gone.png">', "index.html: gone.png leads nowhere"),
        ('<script src="https://x.org/a.js"></script>', "loads https://x.org/a.js from another host"),
        ('<link rel="stylesheet" href="//x.org/a.css">', "loads //x.org/a.css from another host"),
        ('<link rel="preconnect" href="https://x.org">', "loads https://x.org from another host"),
        ("<style>@import 'https://x.org/f.css';</style>", "loads https://x.org/f.css from another host"),
        ('<p style="background: url(https://x.org/i.png)">', "loads https://x.org/i.png from another host"),
    ],
)
def test_a_problem_is_reported(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, problem: str
) -> None:
    (tmp_path.parent / "outside.html").write_text("", encoding="utf-8")
    assert tool.main([str(site(tmp_path, index_html=content))]) == 1
    assert problem in capsys.readouterr().err


def test_a_style_sheet_that_loads_a_font_from_elsewhere_is_reported(tool: ModuleType, tmp_path: Path) -> None:
    site(tmp_path, index_html="", s_css="@font-face { src: url(https://fonts.example/f.woff2) }")
    assert list(tool.Site(tmp_path).problems()) == ["s.css: loads https://fonts.example/f.woff2 from another host"]


def test_an_empty_folder_is_not_a_site(tool: ModuleType, tmp_path: Path) -> None:
    assert tool.main([str(tmp_path)]) == 2
