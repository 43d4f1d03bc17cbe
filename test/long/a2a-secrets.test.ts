// Every tool is a skill, so secrets go in and keys come out over A2A, where tasks are stored. None of them may be: they are looked
// for, in every encoding, in all that the gateway stored and logged.
import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodingsOf, findSecret } from '../support/encodings.ts'
import { type Engine, ENGINES, startTestGateway } from '../support/gateway.ts'
import { storedBytes } from '../support/stored-bytes.ts'
import { at, type Json } from '../support/tree.ts'
import { tools } from '../../tools/index.ts'

const canary = (what: string) => `CANARY_${what}_${randomBytes(24).toString('base64')}+/=&"<'>\\%41 ü§_end`

interface Evidence {
  readonly stored: Buffer
  readonly log: string
  /** Secrets that were sent, by what they are. */
  readonly sent: Readonly<Record<string, string>>
  /** Keys and tokens that an answer showed, by the skill that showed them. */
  readonly shown: Readonly<Record<string, string>>
  /** `skill code` of every call. */
  readonly codes: readonly string[]
  readonly tasks: unknown
}

async function gather(engine: Engine): Promise<Evidence> {
  const gw = await startTestGateway({ engine, env: { GATEWAY_LOG_LEVEL: 'trace' } })
  const sent: Record<string, string> = {}
  const shown: Record<string, string> = {}
  const codes: string[] = []
  const secret = (what: string) => (sent[what] = canary(what))

  async function rpc(method: string, params: unknown, token?: string): Promise<Json> {
    const response = await fetch(`${gw.baseUrl}/a2a`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.json()) as Json
  }
  /** The data of the answer; a refusal is its problem. */
  async function send(skill: string, input: Json, token: string | undefined, part: 'data' | 'text' = 'data') {
    const call = { skill, input }
    const parts = [part === 'data' ? { data: call } : { text: JSON.stringify(call) }]
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts }
    const body = await rpc('SendMessage', { message }, token)
    const details = (at(body, 'error', 'data') ?? []) as Json[]
    const refusal = details.map((detail) => at(detail, 'value', 'code')).find((code) => code !== undefined)
    codes.push(`${skill} ${String(refusal ?? at(body, 'error', 'code') ?? 'ok')}`)
    // A task is what must not be; what it holds is looked for all the same.
    const inTask = at(body, 'result', 'task', 'artifacts', '0', 'parts', '0', 'data')
    return (at(body, 'result', 'message', 'parts', '0', 'data') ?? inTask ?? {}) as Json
  }
  const keep = (skill: string, value: unknown) => {
    expect(value, skill).toEqual(expect.any(String))
    return (shown[skill] = value as string)
  }

  try {
    const { operatorKey } = gw
    const custom = { provider: 'custom', hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET'] }
    const stored = await send(
      'egress-credentials-create',
      { ...custom, secret: secret('stored') },
      operatorKey,
    )
    const settings = {
      placements: [
        { in: 'header', name: 'x-one', part: 'one' },
        { in: 'header', name: 'x-two', part: 'two' },
      ],
    }
    const parts = { one: secret('part one'), two: secret('part two') }
    await send('egress-credentials-create', { ...custom, settings, parts }, operatorKey)
    const credential_id = stored['credential_id'] as string
    await send('egress-credentials-rotate', { credential_id, secret: secret('rotated') }, operatorKey)
    await send(
      'egress-credentials-rotate',
      { credential_id, secret: secret('rotated by text') },
      operatorKey,
      'text',
    )
    const issued = await send('egress-capabilities-issue', { credential_id }, operatorKey)
    const capability = keep('egress-capabilities-issue', issued['capability'])
    const narrowed = await send('egress-capabilities-narrow', { capability, methods: ['GET'] }, undefined)
    keep('egress-capabilities-narrow', narrowed['capability'])

    const mandate = {
      purpose: 'read one page',
      credential_id,
      host: 'api.example.com',
      path_prefix: '/',
      methods: ['GET'],
      max_calls: 1,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    }
    const request = { method: 'GET', url: gw.url('/permit') }
    const prepared = await send('actions-prepare', { credential_id, request, mandate }, operatorKey)
    keep('actions-prepare', prepared['permit'])
    keep('keys-create', (await send('keys-create', { label: 'one more' }, operatorKey))['key'])
    const email_key = keep('keys-free', (await send('keys-free', {}, undefined))['key'])
    await send('verify-email', { email: 'not an address', email_key }, undefined)
    const payout_address = '0x00000000000000000000000000000000000acade'
    const seller = { seller: 'acme-weather', name: 'Acme Weather', payout_address }
    const sellerKey = keep(
      'marketplace-sellers-register',
      (await send('marketplace-sellers-register', seller, undefined))['key'],
    )
    const sold = { service_id: 'weather', secret: secret('sold') }
    await send('seller-credential', sold, sellerKey)
    keep('seller-key', (await send('seller-key', {}, sellerKey))['key'])
    const recovery = {
      seller: 'acme-weather',
      signed_at: new Date().toISOString(),
      signature: secret('signature'),
    }
    await send('seller-recover', recovery, undefined)

    // Refused for its shape, for its caller, for its skill: what was sent is as secret as what was stored.
    await send(
      'egress-credentials-create',
      { ...custom, secret: secret('refused'), no_such: secret('member') },
      operatorKey,
    )
    await send('egress-credentials-create', { ...custom, secret: secret('stranger') }, undefined)
    await send('egress-credentials-creat', { secret: secret('mistyped') }, operatorKey)

    const tasks = at(await rpc('ListTasks', {}, operatorKey), 'result', 'tasks')
    return { stored: await storedBytes(gw), log: gw.log(), sent, shown, codes, tasks }
  } finally {
    await gw.close()
  }
}

it('goes for every tool that comes: a Task is stored with its input and its output, and these are the tools that are Tasks', () => {
  const tasks = tools.filter(({ reply, doors }) => reply === 'task' && doors.includes('a2a'))
  expect(tasks.map(({ name }) => name).toSorted()).toEqual([
    'gateway.actions.execute',
    'gateway.credits.purchase',
    'gateway.egress.fetch',
    'gateway.marketplace.call',
    'gateway.web.fetch',
    'gateway_execute',
  ])
})

describe.each(ENGINES)('secrets over A2A (%s)', (engine) => {
  let evidence: Evidence
  beforeAll(async () => void (evidence = await gather(engine)))

  const found = (bytes: Buffer | string) =>
    Object.entries({ ...evidence.sent, ...evidence.shown }).flatMap(([what, secret]) =>
      findSecret(bytes, encodingsOf(secret)).map((encoding) => `${what}: ${encoding}`),
    )

  it('go in and come out: each skill answered as it does at the other doors', () => {
    expect(evidence.codes).toEqual([
      'egress-credentials-create ok',
      'egress-credentials-create ok',
      'egress-credentials-rotate ok',
      'egress-credentials-rotate ok',
      'egress-capabilities-issue ok',
      'egress-capabilities-narrow ok',
      'actions-prepare ok',
      'keys-create ok',
      'keys-free ok',
      'verify-email ok',
      'marketplace-sellers-register ok',
      'seller-credential service_not_found',
      'seller-key ok',
      'seller-recover input_invalid',
      'egress-credentials-create input_unknown_property',
      'egress-credentials-create key_required',
      'egress-credentials-creat tool_not_found',
    ])
    expect(evidence.tasks).toEqual([])
  })

  it('are in no file, no table and no write-ahead log', () => {
    expect(evidence.stored.length).toBeGreaterThan(10_000)
    expect(found(evidence.stored)).toEqual([])
  })

  it('are in no log line, down to trace', () => {
    expect(evidence.log).toContain('egress.credentials.create')
    expect(found(evidence.log)).toEqual([])
  })
})
