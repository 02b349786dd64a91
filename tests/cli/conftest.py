"""What the tests of the verbs share."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from bench import bench  # a fixture
