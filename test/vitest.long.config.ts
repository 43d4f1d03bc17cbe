// `npm run test:long`: processes killed at every step, waits of real length, and thousands of inputs. `.ci/run` runs both.
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './support/longest-first.ts'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/long/**/*.test.ts', 'test/{flow,unit}/**/fuzz-*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/support/program-bundle.ts'],
    provide: { fuzzInputs: 1000 },
    // Long is what these are: the limit is there for what hangs.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    // What is waited for comes within milliseconds, and on a busy machine half a minute later: limits are there for what hangs.
    expect: { poll: { timeout: 60_000 } },
    // More than there are cores: a quarter of the time they wait for processes that start or end.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
  },
})
