// `npm run mutate`: the unit tests of the parts whose files are changed, as one project, which is what Stryker can drive.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/unit/{actions,edge,egress,lib,payments,receipts}/**/*.test.{ts,tsx}'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
