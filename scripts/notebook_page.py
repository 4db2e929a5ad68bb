"""Turn a notebook with its outputs into a page of the documentation."""

import base64


def render(notebook: dict, name: str) -> tuple[str, dict[str, bytes]]:
    """Return the page as Markdown, and its images by file name.

    Args:
        name: name of the notebook's file without its extension; the page links to the file.
    """
    parts, images = [], {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(_fence(source, "python"))
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                text = _fence("".join(output["text"]), "text")
                parts.append(f'<div class="output" markdown>\n\n{text}\n\n</div>')
                continue
            image = f"{name}_{len(images)}.png"
            images[image] = base64.b64decode("".join(output["data"]["image/png"]))
            parts.append(f"![What this cell draws]({image})")
    link = f"[Download this notebook](./{name}.ipynb){{ download }}"
    parts[0] = parts[0].replace("\n", f"\n\n{link}\n", 1)  # below the heading
    return "\n\n".join(parts) + "\n", images


def _fence(text: str, language: str) -> str:
    return f"~~~~ {language}\n{text.rstrip()}\n~~~~"
