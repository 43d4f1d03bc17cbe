// `npm run test:monitoring`: the rules under promtool, and a gateway under Prometheus. They need Debian's `prometheus`, 98 MB, so `.ci/run`
// leaves them out: the unit tests hold names, labels and codes of rules and dashboard to the lists of the gateway.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/monitoring/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
  },
})
