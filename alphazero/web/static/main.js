// The page of `alphazero serve`: the page, with a server behind it.

import { startPage } from "./page.js";
import { serverBackend } from "./server_backend.js";

startPage(serverBackend(), document.getElementById("page"));
