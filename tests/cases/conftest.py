"""What the case book's tests share: small models by hand, and the program to run, quantize and compare them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from bench import bench  # a fixture
