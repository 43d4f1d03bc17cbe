// `npm run mutate`: the unit tests alone, as one project, which is what Stryker can drive.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/unit/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
