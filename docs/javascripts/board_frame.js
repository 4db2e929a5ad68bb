// Frames with a board: as high as the page in them, in the colours of the site.

{
  const styles = new URL("../stylesheets/board_frame.css", document.currentScript.src).href;

  for (const frame of document.querySelectorAll("iframe.board")) {
    frame.addEventListener("load", () => settle(frame));
    const page = frame.contentDocument;
    if (page?.readyState === "complete" && page.URL !== "about:blank") settle(frame);
  }

  function settle(frame) {
    const page = frame.contentDocument;
    if (!page) return; // the site is read from files: browsers keep these apart
    const root = page.documentElement;
    const link = Object.assign(page.createElement("link"), { rel: "stylesheet", href: styles });
    page.head.append(link);
    const measure = () => root.style.setProperty("--room", `${roomFor(frame)}px`);
    window.addEventListener("resize", measure);
    measure();
    new ResizeObserver(() => {
      frame.style.height = `${Math.ceil(page.body.getBoundingClientRect().height)}px`;
    }).observe(page.body);
    const paint = () => {
      const theme = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
      if (root.dataset.theme !== theme) root.dataset.theme = theme;
    };
    const painter = new MutationObserver(paint);
    painter.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    // The page keeps a choice of its own.
    painter.observe(root, { attributeFilter: ["data-theme"] });
    paint();
  }

  /** Return the height in sight for a frame: without scrolling, or after it if that is little. */
  function roomFor(frame) {
    const top = frame.getBoundingClientRect().top + window.scrollY;
    const header = document.querySelector(".md-header")?.offsetHeight ?? 0;
    return window.innerHeight - (top < window.innerHeight / 2 ? top : header);
  }
}
