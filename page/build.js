// Bundle the page: node build.js FOLDER writes page.js, page.css and uplot.js there.

import { readdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const [folder] = process.argv.slice(2);
const common = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
};
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const inPage = Object.keys(dependencies).filter((name) => name !== "uplot");

await build({
  ...common,
  entryPoints: { page: "src/main.tsx" },
  banner: { js: licences(inPage) },
  outdir: folder,
  // The charts' library is a third of all; it is loaded with the first chart.
  external: ["./uplot.js"],
  alias: {
    uplot: "./uplot.js",
    // The reader of SGF asks for these where it reads files and bytes; the page gives it text.
    fs: "./nothing.js",
    "iconv-lite": "./nothing.js",
    jschardet: "./nothing.js",
  },
});
await build({
  ...common,
  entryPoints: ["uplot"],
  banner: { js: licences(["uplot"]) },
  outfile: `${folder}/uplot.js`,
});

/** Return the licences of libraries as a comment. */
function licences(names) {
  const texts = names.map((name) => {
    const path = `node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"));
    const file = readdirSync(path).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? readFileSync(`${path}/${file}`, "utf8") : "";
    return `${name} ${version}, ${license}\n\n${text}`;
  });
  return `/*!\n${texts.join("\n\n")}\n*/`;
}
