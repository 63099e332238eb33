"""Every Python block of the pages is a program that prints the text block which follows it."""

import pathlib
import re
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).parent.parent.parent / "docs"
PAGES = ["python.md", "dask.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n^```text\n(.*?)^```", re.M | re.S)
EXAMPLES = [(page, number, *found) for page in PAGES if (DOCS / page).exists()
            for number, found in enumerate(BLOCK.findall((DOCS / page).read_text()), 1)]


def test_every_python_block_has_its_output():
    for page in PAGES:
        text = (DOCS / page).read_text()
        assert text.count("```python\n") == sum(example[0] == page for example in EXAMPLES) > 2


@pytest.mark.parametrize("page, number, program, output", EXAMPLES, ids=lambda value: str(value)[:12])
def test_example(page, number, program, output, tmp_path):
    path = tmp_path / "example.py"
    path.write_text(program)
    done = subprocess.run([sys.executable, path], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == output
