"""How the site is built: ``sphinx-build -W --keep-going -n docs site``."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import calcert

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "calcert"
author = "the authors of calcert"
project_copyright = f"2026, {author}"
version = release = calcert.__version__

extensions = ["mathml", "myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "figures"]

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "calcert"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "choosing": [], "interpreting": [], "contributing": []}

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"Floats": "Floats", "Integers": "Integers", "ArrayLike": "ArrayLike"}
# Types of other libraries are named and have no page here; ours have one, but for these.
UNLISTED = r"calcert\.(foundation\.\w+|reports\.statements)\.\w+|calcert\.[\w.]+\.(Clusters|Noise|Lower|RangeMean)"
nitpick_ignore_regex = [("py:.*", r"(?!calcert\b).*"), ("py:class", UNLISTED)]
python_maximum_signature_line_length = 80
numpydoc_show_class_members = False
# The adapter is documented from its source; the library behind it is large.
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]
