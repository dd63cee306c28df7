# SPDX-License-Identifier: Apache-2.0
"""For programs that import fastnvmetrics. Where that is installed itself, it is what they get."""
from wattribute.fastnvmetrics import *  # noqa: F401,F403
from wattribute.fastnvmetrics import __all__  # noqa: F401
