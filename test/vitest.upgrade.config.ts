// `npm run test:upgrade`: the release before, from its own package, and this one after it on the same data. RELEASE_BEFORE says which; it is built from the
// history of the repository, and npm asks its registry for what it needs, so `.ci/run` leaves it out.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/upgrade/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/upgrade/releases.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
  },
})
