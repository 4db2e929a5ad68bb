// In place of the modules of Node that libraries ask for, and the page has no use for.

export default null;
