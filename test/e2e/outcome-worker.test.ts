// The process for analyses as it is shipped: the built file, which starts from dist and reads a page.
import { expect, it } from 'vitest'
import { createAnalyserPool } from '../../src/outcomes/adapters/pool.ts'
import { analyses } from '../../src/outcomes/analyses.ts'

it('the built process for analyses reads a page as the source does', async () => {
  const pool = createAnalyserPool({ workerUrl: new URL('../../dist/outcome-worker.js', import.meta.url) })
  const input = {
    body: Buffer.from('<title>Tea</title><main><p>Green tea is steeped for three minutes.</p></main>'),
    isCut: false,
    contentType: 'text/html; charset=utf-8',
    contentLanguage: null,
    url: 'https://a.example/',
  }
  try {
    expect(await pool.run('page', input)).toEqual({ ok: true, value: analyses.page(input) })
  } finally {
    await pool.close()
  }
})
