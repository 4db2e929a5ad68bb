"""A hook of MkDocs: links of a notebook to other pages, such as train.md, lead to their addresses.

MkDocs does that in Markdown pages itself. In a notebook the files' names must stay, because they
are what leads there on GitHub and in an editor.
"""

import re

from mkdocs.exceptions import PluginError
from mkdocs.utils import get_relative_url


def on_page_content(html, page, config, files):
    """Return the page with its links replaced; fail for a page that does not exist."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html

    def address(match):
        file = files.get_file_from_path(match[1])
        if file is None:
            raise PluginError(f"{page.file.src_uri} links to {match[1]}, which does not exist")
        return f'href="{get_relative_url(file.url, page.url)}{match[2] or ""}"'

    return re.sub(r'href="([\w/]+\.md)(#[^"]*)?"', address, html)
