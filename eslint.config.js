// Rules for the JavaScript of the web page; types are checked by the TypeScript compiler (tsconfig.json).
import css from "@eslint/css";
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["node_modules/", ".venv*/", "out/", "site/", "build/", "dist/", "htmlcov/"] },
  {
    files: ["**/*.css"],
    language: "css/css",
    plugins: { css },
    rules: {
      ...css.configs.recommended.rules,
      "css/no-important": "off",  // people who ask for less motion win over every other rule
      "css/no-invalid-properties": ["error", { allowUnknownVariables: true }],  // scripts set some variables
      "css/use-baseline": "off",  // what an older browser does not know here is decoration
    },
  },
  { files: ["**/*.js"], ...js.configs.recommended },
  {
    files: ["src/shoal/ui/static/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "error",
      "default-case-last": "error",
      eqeqeq: "error",
      "no-alert": "error",
      "no-caller": "error",
      "no-console": ["error", { allow: ["error"] }],
      "no-constructor-return": "error",
      "no-duplicate-imports": "error",
      "no-else-return": "error",
      "no-eval": "error",
      "no-implicit-coercion": "error",
      "no-implicit-globals": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-new-wrappers": "error",
      "no-promise-executor-return": "error",
      "no-script-url": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-throw-literal": "error",
      "no-unmodified-loop-condition": "error",
      "no-unused-expressions": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_$", caughtErrors: "all" }],
      "no-useless-concat": "error",
      "no-useless-rename": "error",
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-promise-reject-errors": "error",
      "prefer-rest-params": "error",
      "prefer-spread": "error",
      radix: "error",
    },
  },
];
