// Lets Node run the site's components from their sources (`node --import`), as bundles and vitest do by themselves.
import { readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.tsx')) return nextLoad(url, context)
    // Most processes that take the hook along draw no page.
    const { code } = require('esbuild').transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
      loader: 'tsx',
      jsx: 'automatic',
      jsxImportSource: 'preact',
    })
    return { format: 'module', source: code, shortCircuit: true }
  },
})
