// Elements of the page, made from data. Text stays text: nothing is ever parsed as HTML.

/**
 * Return a new HTML element.
 * @param attributes `onclick` and the like are listeners; null and undefined are left out
 * @param children elements or text; null and undefined are left out
 */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return a new SVG element; see `element`. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  const isGiven = (child) => child !== null && child !== undefined;
  node.append(
    ...children
      .flat()
      .filter(isGiven)
      .map((child) => (isNode(child) ? child : `${child}`)),
  );
  return node;
}

function isNode(child) {
  return child instanceof Node;
}
