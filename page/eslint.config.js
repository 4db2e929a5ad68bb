import eslint from "@eslint/js";
import typescript from "typescript-eslint";

export default typescript.config(
  { ignores: ["node_modules"] },
  eslint.configs.recommended,
  typescript.configs.strict,
  {
    files: ["*.js"],
    languageOptions: { globals: { process: "readonly" } },
  },
  {
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-depth": ["error", 4],
      "max-lines-per-function": ["error", { max: 100, skipBlankLines: true, skipComments: true }],
    },
  },
);
