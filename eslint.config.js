// Type-aware rules only: everything that needs no types is oxlint's, which is a hundred times faster.
import tseslint from 'typescript-eslint'

export default tseslint.config({
  files: ['src/**/*.{ts,tsx}', 'tools/**/*.ts', 'schemas/**/*.ts', 'deploy/**/*.ts'],
  languageOptions: {
    parser: tseslint.parser,
    // The program of what is linted alone: with the tests, whose libraries have more types than all else, it needs 4 GB.
    parserOptions: { project: '.ci/tsconfig.lint.json', tsconfigRootDir: import.meta.dirname },
  },
  plugins: { '@typescript-eslint': tseslint.plugin },
  rules: {
    '@typescript-eslint/no-floating-promises': 'error',
    '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
    '@typescript-eslint/await-thenable': 'error',
    '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  },
})
