"""A hook of MkDocs: links of a notebook to other pages lead there, and its page offers the file.

MkDocs itself turns the names of files, such as train.md, into addresses in Markdown pages only. In
a notebook the names must stay, because they are what leads there on GitHub and in an editor.
"""

import re
from pathlib import PurePosixPath

from mkdocs.exceptions import PluginError
from mkdocs.utils import get_relative_url


def on_page_content(html, page, config, files):
    """Return the page with its links replaced and one to the notebook below its heading.

    Raises:
        PluginError: for a link to a page that does not exist.
    """
    if not page.file.src_uri.endswith(".ipynb"):
        return html

    def address(match):
        file = files.get_file_from_path(match[1])
        if file is None:
            raise PluginError(f"{page.file.src_uri} links to {match[1]}, which does not exist")
        return f'href="{get_relative_url(file.url, page.url)}{match[2] or ""}"'

    name = PurePosixPath(page.file.src_uri).name
    download = f'</h1><p><a href="{name}" download>Download this notebook</a></p>'
    html = html.replace("</h1>", download, 1)
    return re.sub(r'href="([\w/]+\.md)(#[^"]*)?"', address, html)
