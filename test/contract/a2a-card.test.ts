import { createHash } from 'node:crypto'
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import canonicalize from 'canonicalize'
import { flattenedVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  bearer,
  CAPABILITY,
  type DoorUnderTest,
  KEY_A,
  KEY_B,
  rest,
  rpc,
  startA2aDoor,
} from '../support/a2a-door.ts'
import { z } from 'zod'
import { verifies } from '../requirements.ts'
import { CALLER_KINDS } from '../../src/core/caller.ts'
import { free } from '../../src/core/price.ts'
import { newToken } from '../../src/lib/tokens.ts'
import { defineTool } from '../../tools/services.ts'
import { createMemoryTaskStore } from '../support/task-store.ts'

interface Signature {
  protected: string
  signature: string
}
interface Card extends Record<string, unknown> {
  supportedInterfaces: { url: string; protocolBinding: string; protocolVersion: string }[]
  skills: { id: string; examples: string[] }[]
  signatures: Signature[]
  capabilities: {
    extensions: { uri: string; params: { skills: Record<string, { inputSchema: unknown }> } }[]
  }
}

let door: DoorUnderTest
beforeAll(async () => {
  door = await startA2aDoor()
})
afterAll(() => door.close())

const CARD = '/.well-known/agent-card.json'
const get = (path = CARD, headers: Record<string, string> = {}) => fetch(door.url + path, { headers })
const card = async (version?: string, path = CARD) =>
  (await (await get(path, version === undefined ? {} : { 'a2a-version': version })).json()) as Card
const skillIds = ({ skills }: Card) => skills.map(({ id }) => id)

/** Whether a signature holds for the card as it was served. */
async function holds(served: Card, signature: Signature): Promise<boolean> {
  const { signatures: _signatures, ...signed } = served
  const payload = Buffer.from(canonicalize(signed)!).toString('base64url')
  return flattenedVerify({ ...signature, payload }, door.verifyKey()).then(
    () => true,
    () => false,
  )
}

describe('the card', () => {
  verifies(
    ['CARD-DISC-001', 'CARD-PROTO-001', 'CARD-PROTO-002', 'CARD-STRUCT-001', 'BIND-FIELD-001'],
    'declares every binding, every member that is required and none that 1.0 does not know',
    async () => {
      const served = await card('1.0')
      expect(served).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        version: '5.0.2',
        defaultInputModes: ['application/json', 'text/plain'],
        capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
        supportedInterfaces: [
          { url: `${door.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
          { url: `${door.url}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
          { url: `${door.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        ],
      })
      // What the codec does not know it drops.
      expect(AgentCard.toJSON(AgentCard.fromJSON(served))).toEqual(served)
    },
  )

  test('lists every skill that agents can call, with an example that works when sent unchanged', async () => {
    const served = await card('1.0')
    expect(skillIds(served)).toEqual(['echo', 'shout', 'alpha', 'beta', 'fail', 'wait', 'fetch'])
    for (const id of ['echo', 'alpha', 'beta']) {
      const text = served.skills.find((skill) => skill.id === id)!.examples.at(-1)!
      const message = { messageId: id, role: 'ROLE_USER', parts: [{ text }] }
      const { body } = await rpc(door, 'SendMessage', { message })
      expect(body.result.task.status.state).toBe('TASK_STATE_COMPLETED')
    }
  })

  test('says in its extension what every skill takes and gives', async () => {
    const [extension] = (await card('1.0')).capabilities.extensions
    const { skills } = extension!.params
    expect(Object.keys(skills)).toEqual(skillIds(await card('1.0')))
    expect(skills['echo']!.inputSchema).toMatchObject({ type: 'object', required: ['text'] })
    const document = await (await get(new URL(extension!.uri).pathname)).json()
    expect(document).toMatchObject({ uri: extension!.uri, skills })
  })

  verifies(['CARD-SIGN-001', 'CARD-SIGN-002', 'CARD-SIGN-003'], 'is signed over what is served', async () => {
    for (const served of [await card('1.0'), await card(), await card('0.3')]) {
      expect(await holds(served, served.signatures[0]!)).toBe(true)
      expect(await holds({ ...served, name: 'Another' }, served.signatures[0]!)).toBe(false)
      for (const { protected: header } of served.signatures)
        expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({
          alg: 'EdDSA',
          typ: 'JOSE',
          kid: 'test-key',
        })
    }
  })

  test("holds for the SDK's own verification, which drops empty members first", async () => {
    const served = await card('1.0')
    const verify = verifyAgentCardSignature(async () => door.verifyKey())
    await verify(served as unknown as AgentCard)
    const forged = { ...served, description: 'Another' } as unknown as AgentCard
    await expect(verify(forged)).rejects.toThrow('No valid signatures')
  })

  test('is in the form that the client asks for', async () => {
    expect(await card('1.0')).not.toHaveProperty('url')
    expect(await card()).toMatchObject({
      url: `${door.url}/a2a`,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      supportedInterfaces: expect.any(Array),
    })
    for (const old of [await card('0.3'), await card(undefined, '/.well-known/agent.json')]) {
      expect(old).toMatchObject({ url: `${door.url}/a2a`, protocolVersion: '0.3.0' })
      expect(old).not.toHaveProperty('supportedInterfaces')
      expect(old['securitySchemes']).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } })
    }
    expect(await card('2.0')).toEqual(await card())
  })

  verifies(['CARD-CACHE-001', 'CARD-CACHE-002', 'CARD-CACHE-003'], 'may be cached, per version', async () => {
    const first = await get()
    const headers = Object.fromEntries(first.headers)
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      vary: 'A2A-Version, accept-encoding',
      'last-modified': expect.stringMatching(/GMT$/),
    })
    const etag = headers['etag']!
    expect((await get(CARD, { 'if-none-match': etag })).status).toBe(304)
    expect((await get(CARD, { 'if-none-match': '"other"' })).status).toBe(200)
    expect((await get(CARD, { 'if-modified-since': headers['last-modified']! })).status).toBe(304)
    expect((await get(CARD, { 'if-none-match': etag, 'a2a-version': '1.0' })).status).toBe(200)
    const head = await fetch(door.url + CARD, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } })
    const length = Number(head.headers.get('content-length'))
    expect(length).toBe(Buffer.byteLength(await first.text()))
    expect((await fetch(door.url + CARD, { method: 'POST' })).status).toBe(405)
  })

  verifies(
    'CARD-EXT-001',
    'has an extended form for whoever authenticates, with the skills for operators for service keys only',
    async () => {
      for (const headers of [
        {},
        bearer('agw_sk_wrong'),
        bearer('agw_cap_wrong'),
        bearer('agw_ek_wrong'),
        bearer('x'),
      ]) {
        expect((await rpc(door, 'GetExtendedAgentCard', {}, headers)).status).toBe(401)
        expect((await rest(door, 'GET', '/extendedAgentCard', undefined, headers)).status).toBe(401)
      }
      // The SDK's client asks whenever the card says that there is one: an agent is not refused what it may read anyway.
      const agents = (await rpc(door, 'GetExtendedAgentCard', {}, bearer(CAPABILITY))).body.result
      expect(agents).toEqual(await card('1.0'))
      expect(skillIds(agents as unknown as Card)).not.toContain('issue')
      const one = (await rpc(door, 'GetExtendedAgentCard', {}, bearer(KEY_A))).body.result as unknown as Card
      const other = (await rest(door, 'GET', '/extendedAgentCard', undefined, bearer(KEY_A))).body
      expect(skillIds(one)).toContain('issue')
      expect(digest(other)).toBe(digest(one))
      expect(await holds(one, one.signatures[0]!)).toBe(true)
    },
  )
})

/** One tool for each kind of caller; none of them writes a skill. */
const oneForEach = CALLER_KINDS.map((caller) =>
  defineTool({
    name: `gateway.for_${caller}`,
    title: `For ${caller}`,
    toolset: 'web',
    summary: 'Says nothing.',
    input: z.strictObject({}),
    output: z.strictObject({}),
    price: free,
    caller,
    effects: { readOnly: true, idempotent: true, openWorld: false },
    rest: { method: 'GET', path: `/for/${caller}`, operationId: `for_${caller}` },
    errors: [],
    examples: [{ title: 'Ask', input: {} }],
    handle: async () => ({}),
  }),
)

describe('every tool is a skill', () => {
  const ADMIN = newToken('sk', Buffer.alloc(32, 4))
  const SELLER = newToken('sk', Buffer.alloc(32, 5))
  let all: DoorUnderTest
  beforeAll(async () => {
    const memory = createMemoryTaskStore()
    memory.addKey(ADMIN, { accountId: 'acct_admin', admin: true })
    memory.addKey(SELLER, { accountId: 'acct_seller', role: 'seller' })
    all = await startA2aDoor({ memory, tools: oneForEach, rateLimit: 5 })
  })
  afterAll(() => all.close())
  const derived = (shown: Card) => skillIds(shown).filter((id) => id.startsWith('for-'))
  const extended = async (key: string) =>
    (await rpc(all, 'GetExtendedAgentCard', {}, bearer(key))).body.result as unknown as Card

  test('on the card of those who may call it: of everybody, of sellers, of operators, of the administrator', async () => {
    const everybody = ['for-anyone', 'for-capability', 'for-account', 'for-email']
    const shown = (await (await fetch(all.url + CARD)).json()) as Card
    expect(derived(shown).toSorted()).toEqual(everybody.toSorted())
    expect(derived(await extended(SELLER)).toSorted()).toEqual([...everybody, 'for-seller'].toSorted())
    const operators = [...everybody, 'for-seller', 'for-operator']
    expect(derived(await extended(KEY_A)).toSorted()).toEqual(operators.toSorted())
    expect(derived(await extended(ADMIN)).toSorted()).toEqual([...operators, 'for-admin'].toSorted())
  })

  test('with the title, the summary and the toolset of its tool, and an example that works', async () => {
    const shown = (await (await fetch(all.url + CARD)).json()) as Card
    expect(shown.skills.find(({ id }) => id === 'for-anyone')).toMatchObject({
      name: 'For anyone',
      description: 'Says nothing.',
      tags: ['web'],
      examples: ['For anyone', '{"skill":"for-anyone","input":{}}'],
    })
    const parts = [{ text: '{"skill":"for-anyone","input":{}}' }]
    const { body } = await rpc(all, 'SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts } })
    expect(body.result.message.parts).toMatchObject([{ data: {} }])
  })

  test('asking for the extended card is limited like calling a skill', async () => {
    const statuses: number[] = []
    for (let count = 0; count < 7; count++)
      statuses.push((await rpc(all, 'GetExtendedAgentCard', {}, bearer(KEY_B))).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  })
})

const digest = (value: unknown) => createHash('sha256').update(canonicalize(value)!).digest('hex')
