// The thread for long searches as it is shipped: the built file, which starts from dist and finds a secret.
import { expect, it } from 'vitest'
import { openSearchThreads } from '../../src/egress/adapters/search/threads.ts'
import { createLogger } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'

it('the built thread for searches finds what the source finds', async () => {
  const threads = openSearchThreads({
    log: createLogger('silent'),
    workerUrl: new URL('../../dist/search-worker.js', import.meta.url),
  })
  const sought = { secrets: [new Secret('sk_live_0123456789')], scheme: 'Bearer' }
  const search = (body: string) =>
    threads.search('acct_1', sought, { statusText: 'OK', headers: [], body: Buffer.from(body) })
  try {
    expect(await search('a clean answer')).toEqual({ ok: true })
    expect(await search('you sent sk_live_0123456789')).toMatchObject({
      reason: 'reflected',
      encoding: 'raw',
    })
  } finally {
    await threads.close()
  }
})
