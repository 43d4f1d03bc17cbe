// `npm run test:image`: the image and what is around it in deploy/, by the programs that read them. They come from Debian (test/image/install-programs).
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/image/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
  },
})
