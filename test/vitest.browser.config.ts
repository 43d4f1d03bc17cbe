import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for comes within milliseconds, and on a busy machine half a minute later: limits are there for what hangs.
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 2,
    pool: 'forks',
  },
})
