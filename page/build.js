// Bundle the page: node build.js FOLDER writes page.js and page.css there, beside index.html.

import { readdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const [folder] = process.argv.slice(2);

await build({
  entryPoints: { page: "src/main.tsx" },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  // The reader of SGF asks for these where it reads files and bytes; the page gives it text.
  alias: { fs: "./nothing.js", "iconv-lite": "./nothing.js", jschardet: "./nothing.js" },
  banner: { js: `/*!\n${licences()}\n*/` },
});

/** Return the licences of the libraries in the bundle. */
function licences() {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  return Object.keys(dependencies)
    .map((name) => {
      const path = `node_modules/${name}`;
      const { version, license } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"));
      const file = readdirSync(path).find((one) => /^licen[cs]e/i.test(one));
      return `${name} ${version}, ${license}\n\n${file ? readFileSync(`${path}/${file}`, "utf8") : ""}`;
    })
    .join("\n\n");
}
