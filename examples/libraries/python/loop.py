"""Finds the protocol loop that all workers in Python share."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from lockbench_worker import Refused, serve  # noqa: E402,F401
