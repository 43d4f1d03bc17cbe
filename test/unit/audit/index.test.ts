import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AuditParts, createAudit, type OpenAudit } from '../../../src/audit/index.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const CHAIN = 'acct_1'
let temp: TempStore
let lines: string[]
beforeEach(async () => {
  temp = await openTempStore()
  lines = []
})
afterEach(() => temp.close())

async function open({ store = {} }: { store?: Partial<AuditParts['store']> } = {}): Promise<OpenAudit> {
  const now = () => 1_000
  const file = join(temp.directory, 'signing.jwk')
  const signer = await openSigner({ file, store: temp.store, now, environment: 'sandbox' })
  return createAudit({
    store: { ...temp.store, ...store },
    documents: { read: () => Promise.reject(new Error('There are no documents.')) },
    policies: [],
    signer,
    baseUrl: 'http://127.0.0.1',
    now,
    log: createLogger('info', { write: (line: string) => void lines.push(line) }),
  })
}
const append = () =>
  temp.store.appendAuditEvents([{ chain: CHAIN, at: 1_000, event: 'key.created' }], { kind: 'gateway' })

it('shows the events around one that was changed into none, and says that they are not whole', async () => {
  for (let i = 0; i < 3; i++) await append()
  const audit = await open({
    store: {
      listAuditEvents: async (query) =>
        (await temp.store.listAuditEvents(query)).map((event) =>
          event.seq === 2 ? { ...event, body: 'null' } : event,
        ),
    },
  })
  const page = await audit.read({ chain: CHAIN, after: 0, limit: 10 })
  expect(page.events.map(({ seq }) => seq)).toEqual([1, 3])
  expect([page.intact, page.head]).toEqual([false, null])
  expect(lines.join('')).toContain('"reason":"event 2 was changed"')
})
