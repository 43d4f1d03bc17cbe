import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exportLines } from '../../../src/audit/export.ts'
import { type AuditParts, createAudit, type OpenAudit } from '../../../src/audit/index.ts'
import { verifyExport } from '../../../src/audit/verify.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { RefusedCall } from '../../../src/core/refusal-watch.ts'
import { egressPolicyDocument } from '../../../src/egress/policy.ts'
import { digestCanonical } from '../../../src/lib/canonical-json.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { createPolicies } from '../../../src/policies/index.ts'
import { openSigner } from '../../../src/receipts/adapters/signer.ts'
import { publishedKeys } from '../../../src/receipts/published-keys.ts'
import { decodeJws } from '../../../src/receipts/types.ts'
import { openFileDocuments } from '../../../src/store/documents/files.ts'
import type { DocumentKind } from '../../../src/store/ports.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const CHAIN = 'acct_1'
let temp: TempStore
let lines: string[]
let clock: number
beforeEach(async () => {
  temp = await openTempStore()
  lines = []
  clock = 1_800_000_000_000
})
afterEach(() => temp.close())

async function open({
  store = {},
  ...more
}: Partial<Omit<AuditParts, 'store'>> & { store?: Partial<AuditParts['store']> } = {}): Promise<OpenAudit> {
  const now = () => clock
  const file = join(temp.directory, 'signing.jwk')
  const signer = await openSigner({ file, store: temp.store, now, environment: 'sandbox' })
  return createAudit({
    store: { ...temp.store, ...store },
    documents: openFileDocuments(temp.directory),
    policies: [],
    signer,
    baseUrl: 'http://127.0.0.1',
    now,
    log: createLogger('info', { write: (line: string) => void lines.push(line) }),
    ...more,
  })
}
const REFUSED: RefusedCall = {
  caller: { kind: 'operator', accountId: CHAIN, id: 'key_1' } as RefusedCall['caller'],
  tokens: {},
  address: '192.0.2.1',
  door: 'rest',
  tool: 'gateway.egress.fetch',
  requestId: 'req_1',
  input: {},
  error: new GatewayError('secret_reflected', 'The answer holds the secret.'),
}
const signedSeq = async () => (await temp.store.getAuditChain(CHAIN))?.signedSeq
const append = () =>
  temp.store.appendAuditEvents([{ chain: CHAIN, at: clock, event: 'key.created' }], { kind: 'gateway' })

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

it('signs at its end what came after the last minute, counts of refusals included', async () => {
  const audit = await open()
  await append()
  await audit.settle()
  await append()
  for (let i = 0; i < 2; i++) await audit.refused(REFUSED)
  await audit.close()
  const chain = await temp.store.getAuditChain(CHAIN)
  expect([chain?.seq, chain?.signedSeq]).toEqual([4, 4])
})

it('signs at its end also where counts cannot be written, and says so', async () => {
  const audit = await open({
    store: { appendAuditEvents: () => Promise.reject(new Error('The store takes nothing.')) },
  })
  await append()
  for (let i = 0; i < 2; i++) await audit.refused(REFUSED)
  await expect(audit.close()).rejects.toThrow('The store takes nothing.')
  expect(await signedSeq()).toBe(1)
})

it('begins with no other chain once it is closed, where it is signing then', async () => {
  const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const asked: string[] = []
  const audit = await open({
    store: {
      async listAuditEvents(query) {
        asked.push(query.chain)
        if (asked.length === 1) {
          begun.resolve()
          await answer.promise
        }
        return temp.store.listAuditEvents(query)
      },
    },
  })
  for (const chain of ['acct_1', 'acct_2', 'acct_3'])
    await temp.store.appendAuditEvents([{ chain, at: clock, event: 'key.created' }], { kind: 'gateway' })
  const settling = audit.settle()
  await begun.promise
  await audit.close()
  asked.length = 0
  answer.resolve()
  await settling
  expect(asked).toEqual([])
})

it.each<[string, () => Promise<never>]>([
  ['does not answer', () => new Promise(() => {})],
  ['is away', () => Promise.reject(new Error('The store is away.'))],
])('ends though the store %s', async (_, listAuditEvents) => {
  const audit = await open({ closeMs: 10, store: { listAuditEvents } })
  await append()
  await audit.close()
  expect(await signedSeq()).toBe(0)
  expect(lines.join('')).toContain('not signed before the next start')
})

it('shows no head that a clock ahead signed after its key was retired, and exports what verifies', async () => {
  const signer = await openSigner({
    file: join(temp.directory, 'signing.jwk'),
    store: temp.store,
    now: () => clock,
    environment: 'sandbox',
  })
  const audit = await open({ signer })
  const sign = async () => {
    await append()
    await audit.settle()
  }
  await sign()
  clock += 3_600_000
  await sign()
  clock -= 3_540_000
  await signer.rotate()
  await sign()

  const page = await audit.read({ chain: CHAIN, after: 0, limit: 10 })
  expect(page.heads.map((jws) => decodeJws(jws).payload['seq'])).toEqual([1, 3])
  const exported: string[] = []
  for await (const line of exportLines((from) => audit.read({ chain: CHAIN, ...from }), { gateway: 'g' }))
    exported.push(line)
  const verdict = await verifyExport(exported.join('\n'), publishedKeys(await temp.store.listPublishedKeys()))
  expect(verdict).toMatchObject({ ok: true, seq: 3, ignoredHeads: 0 })
})

it('shows a stored head that was changed, so that whoever verifies sees it', async () => {
  await append()
  await temp.store.recordAuditHead({ chain: CHAIN, seq: 1, jws: 'no head', signedAt: clock })
  const page = await (await open()).read({ chain: CHAIN, after: 0, limit: 10 })
  expect(page.heads).toEqual(['no head'])
})

it('signs though a policy cannot be read, and says so', async () => {
  await mkdir(join(temp.directory, 'egress-policy.json'))
  const audit = await open({ policies: [egressPolicyDocument] })
  await append()
  await expect(audit.settle()).rejects.toThrow('EISDIR')
  expect(await signedSeq()).toBe(1)
})

describe('an edited policy', () => {
  const text = (given: string) => writeFile(join(temp.directory, 'egress-policy.json'), given)
  const changes = async () => {
    const page = { chain: 'installation', after: 0, upTo: 99, limit: 99 }
    const events = (await temp.store.listAuditEvents(page)).map(({ body }) => JSON.parse(body))
    return events.filter(({ event }) => event === 'policy.changed').length
  }
  /** As a process of its own has it. */
  const openProcess = (kind: DocumentKind<unknown> = egressPolicyDocument) => open({ policies: [kind] })

  it('is one event, whoever has the last valid text of one that is broken', async () => {
    await text('{"paused": true}')
    const one = await openProcess()
    await one.settle()
    expect(await changes()).toBe(1)
    await text('{"paused": "yes"}')
    await one.settle()
    const other = await openProcess()
    for (let i = 0; i < 3; i++) for (const process of [one, other]) await process.settle()
    expect(await changes()).toBe(1)
    await text('{"paused": false}')
    for (let i = 0; i < 3; i++) for (const process of [one, other]) await process.settle()
    expect(await changes()).toBe(2)
  })

  it('is one event, where two releases read more or less out of it', async () => {
    await text('{"paused": true}')
    const processes = [
      await openProcess(),
      await openProcess({ ...egressPolicyDocument, parse: (value) => ({ ...(value as object), more: [] }) }),
    ]
    for (let i = 0; i < 3; i++) for (const process of processes) await process.settle()
    expect(await changes()).toBe(1)
  })

  it('is none where nobody wrote one, and the release before noted what it does without', async () => {
    const process = await openProcess()
    await temp.store.noteDocument({
      name: 'egress-policy',
      digest: digestCanonical(egressPolicyDocument.initial),
      event: { chain: 'installation', at: clock, event: 'policy.changed' },
      acting: { kind: 'gateway' },
    })
    await process.settle()
    expect(await changes()).toBe(1)
  })

  it('is the event of who changed it by the gateway, and no other', async () => {
    const process = await openProcess()
    await process.settle()
    const documents = openFileDocuments(temp.directory)
    const policies = createPolicies({ store: temp.store, documents, now: () => clock })
    const { revision } = await policies.get('egress')
    await policies.update({ policy: 'egress', text: '{"paused": true}', revision, note: '' })
    await process.settle()
    expect(await changes()).toBe(2)
  })
})
