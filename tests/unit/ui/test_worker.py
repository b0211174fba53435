"""A worker process takes questions and answers them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from shoal.ui.server.worker import FAULT, Worker, WorkerGoneError

PROGRAM = """
import os, sys, time
from pathlib import Path
from shoal.ui.server.worker import serve
from shoal.ui.server.workspace import Workspace
def answer(question, arguments, progress):
    if question == "die":
        os._exit(3)
    if question == "fail":
        raise ValueError("the secret of patient 17")
    if question == "panic":
        raise SystemExit("no Exception, as a panic of a compiled library is none")
    if question == "unwritable":
        return {"number": {17}}
    for share in (0.25, 0.5, 0.75):
        progress("first" if share < 0.7 else "second", share)
    print("a library that prints")
    if question == "slow":
        while not os.path.exists(arguments["until"]):
            time.sleep(0.01)
    return {"question": question, "arguments": arguments}
if __name__ == "__main__":
    serve(answer, Workspace(Path.cwd()), ("look",))
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "worker_in_a_test.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "worker_in_a_test"


def test_each_question_gets_its_own_answer(module: str) -> None:
    async def way() -> None:
        worker = Worker(module)
        answers = await asyncio.gather(*(worker.ask("any", {"n": n}) for n in range(20)))
        assert [each["arguments"]["n"] for each in answers] == list(range(20))
        await worker.end()

    asyncio.run(way())


def test_a_process_that_cannot_even_answer_with_an_error_ends(module: str) -> None:
    async def way() -> None:
        worker = Worker(module)
        with pytest.raises(WorkerGoneError):
            await asyncio.wait_for(worker.ask("panic", {}), timeout=30)
        assert (await worker.ask("any", {}))["question"] == "any"
        await worker.end()

    asyncio.run(way())


def test_a_quick_question_does_not_wait_for_a_slow_one(module: str, tmp_path: Path) -> None:
    async def way() -> None:
        worker = Worker(module, quick=("look",))
        slow = asyncio.create_task(worker.ask("slow", {"until": str(tmp_path / "now")}))
        await worker.ask("look", {})
        assert worker.busy
        assert not slow.done()
        (tmp_path / "now").touch()
        assert (await slow)["question"] == "slow"
        await worker.end()

    asyncio.run(way())


def test_of_waiting_questions_of_a_kind_only_the_newest_is_answered(module: str, tmp_path: Path) -> None:
    async def way() -> None:
        worker = Worker(module, newest=("check",))
        slow = asyncio.create_task(worker.ask("slow", {"until": str(tmp_path / "now")}))
        await asyncio.sleep(0)
        others = [asyncio.create_task(worker.ask("check", {"n": n})) for n in range(3)]
        await asyncio.sleep(0)
        (tmp_path / "now").touch()
        await slow
        told = await asyncio.gather(*others)
        assert [each.get("outdated", False) for each in told] == [True, True, False]
        await worker.end()

    asyncio.run(way())


def test_a_process_that_dies_is_told_and_started_again(module: str) -> None:
    async def way() -> None:
        worker = Worker(module)
        for _ in range(2):
            with pytest.raises(WorkerGoneError):
                await worker.ask("die", {})
            assert (await worker.ask("any", {}))["question"] == "any"
        await worker.end()

    asyncio.run(way())


def test_an_answer_that_nobody_waits_for_meets_no_other_question(module: str, tmp_path: Path) -> None:
    async def way() -> None:
        worker = Worker(module)
        left = asyncio.create_task(worker.ask("slow", {"until": str(tmp_path / "now")}))
        await worker._running()
        await asyncio.sleep(0.1)
        left.cancel()
        (tmp_path / "now").touch()
        assert (await worker.ask("any", {"n": 1}))["arguments"] == {"n": 1}
        await worker.end()

    asyncio.run(way())


def test_ending_leaves_no_process(module: str) -> None:
    async def way() -> None:
        worker = Worker(module)
        await worker.ask("any", {})
        assert worker._process is not None
        process = worker._process
        await worker.end()
        assert process.returncode is not None
        await worker.end()  # a second time does no harm
        deadline = time.monotonic() + 5
        while Path(f"/proc/{process.pid}").exists() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        assert not Path(f"/proc/{process.pid}").exists()

    asyncio.run(way())


def test_a_worker_runs_no_module_of_the_current_folder(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "queue.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(elsewhere)

    async def way() -> None:
        worker = Worker(module)
        assert (await worker.ask("any", {}))["question"] == "any"
        await worker.end()

    asyncio.run(way())


@pytest.mark.parametrize("question", ["fail", "unwritable"])
def test_a_fault_says_nothing_of_the_data(module: str, question: str) -> None:
    async def way() -> None:
        worker = Worker(module)
        assert await worker.ask(question, {}) == {"error": FAULT}
        await worker.end()

    asyncio.run(way())


def test_progress_comes_at_each_stage_and_not_too_often(module: str) -> None:
    async def way() -> None:
        worker, shown = Worker(module), []
        await worker.ask("any", {}, lambda stage, share: shown.append((stage, share)))
        assert shown == [("first", 0.25), ("second", 0.75)]
        await worker.end()

    asyncio.run(way())
