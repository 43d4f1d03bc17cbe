import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is waited for comes within milliseconds, and on a busy machine seconds later.
    expect: { poll: { timeout: 15_000 } },
    maxWorkers: 2,
    pool: 'forks',
  },
})
