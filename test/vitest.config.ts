// `npm test`: what a change has to pass within minutes. The longest loops are in vitest.long.config.ts.
import { defineConfig } from 'vitest/config'

// The files of a worker share its modules: loading them anew for each of hundreds of files took a fifth of the time, of unit tests more than
// the tests. A test therefore mocks no module and leaves every global as it found it.
// What is waited for comes within milliseconds, and on a busy machine half a minute later: limits are there for what hangs.
const limits = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } }

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    provide: { fuzzInputs: 20 },
    projects: [
      {
        extends: true,
        test: {
          name: 'suites',
          include: ['test/{contract,flow,e2e}/**/*.test.{ts,tsx}'],
          ...limits,
          maxWorkers: 2,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.{ts,tsx}'],
          ...limits,
          maxWorkers: 2,
          isolate: false,
        },
      },
    ],
  },
})
