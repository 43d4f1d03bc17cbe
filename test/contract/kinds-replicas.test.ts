// What one replica minted or stored, in an answer that another replica waits for.
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEditions } from '../../src/egress/kinds/editions.ts'
import { createKinds } from '../../src/egress/kinds/index.ts'
import { replaceSecret } from '../../src/egress/kinds/replacing.ts'
import { completeParts } from '../../src/egress/kinds/rules.ts'
import { createLeakGates, searchWhole } from '../../src/egress/leak/inspection.ts'
import { createOpenedCredentials } from '../../src/egress/opened-credential-cache.ts'
import { joinParts } from '../../src/egress/placement/parts.ts'
import type { Vault } from '../../src/egress/ports.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { must } from '../../src/lib/must.ts'
import { Secret } from '../../src/lib/secret.ts'
import type { SealedCredential, Store } from '../../src/store/ports.ts'
import { addAccount, createPlace, ENGINES, log, type Place, sealedCredential } from '../support/store.ts'

const FIRST = 'key-q7Zk9Wm2Rt5Yp8VxB3nLc6Hd'
const SECOND = 'key-Jf4Gs0TaUeKX1vQoPiYw5MbN'

const KIND = {
  type: 'oauth2_client_credentials',
  token_url: 'https://login.example.com/token',
  client_id: 'gateway',
} as const

/** The cryptography is another test's: the seal is the text. */
const vault: Vault = {
  seal: async (text) => ({
    ciphertext: text.use((value) => Buffer.from(value).toString('base64url')),
    iv: 'aXY',
    tag: 'dGFn',
    wrap: { kid: 'k1', enc: 'ZW5j', wrapped: 'd3JhcA' },
  }),
  open: async ({ ciphertext }) => new Secret(Buffer.from(ciphertext, 'base64url').toString()),
}

describe.each(ENGINES)('two replicas (%s)', (engine) => {
  let place: Place
  let stores: readonly [Store, Store]
  let credential: SealedCredential
  const clock = { ms: 1_800_000_000_000 }
  beforeEach(async () => {
    place = await createPlace(engine, 'kinds')
    const first = await place.open('boot-1')
    stores = [first, engine === 'sqlite' ? first : await place.open('boot-2')]
    const accountId = await addAccount(first, 0)
    const { secret, settings } = partsOf(FIRST)
    const sealed = await vault.seal(joinParts(secret, settings), {} as never)
    credential = sealedCredential(accountId, { settings, sealed })
    await first.insertCredential(credential)
  })
  afterEach(() => place.remove())

  const partsOf = (text: string) =>
    completeParts(new Map([['client_secret', new Secret(text)]]), { kind: KIND }, { ports: [443] })

  let minted = 0
  function replica(at: 0 | 1) {
    const store = stores[at]
    const createLeakGate = createLeakGates({ search: async (_, ...rest) => searchWhole(...rest) })
    const { open, openToSearch } = createOpenedCredentials({ vault, createLeakGate, now: () => clock.ms })
    const kinds = createKinds({
      store,
      openToSearch,
      createLeakGate,
      editions: createEditions(),
      now: () => clock.ms,
      log,
      fault: noFault,
      askFor: () => async () => ({
        status: 200,
        headers: [{ name: 'content-type', value: 'application/json' }],
        body: Buffer.from(
          JSON.stringify({
            access_token: createHash('sha256').update(`token ${++minted}`).digest('base64url'),
            token_type: 'bearer',
            expires_in: 3600,
          }),
        ),
      }),
    })
    /** A request that is out: what went with it, and what becomes of an answer that shows a text. */
    async function request() {
      const since = clock.ms
      const row = must(await store.getCredential(credential.id, credential.accountId), 'a credential')
      const ready = await kinds.ready(row, await open(row), 5_000)
      const token = must(ready.parts.get('secret'), 'a token').use((text) => text)
      const answered = async (status: number, text: string) => {
        const { gate } = kinds.answered(row, ready, { status, signature: undefined, since })
        const body = Buffer.from(JSON.stringify({ recent: `Bearer ${text}` }))
        return (await gate.inspect({ statusText: '', headers: [], body })).ok ? 'passed' : 'withheld'
      }
      return { token, answered }
    }
    return { request }
  }

  /** @returns the token that took the place of that one, at the same moment */
  async function untilAnotherToken(
    { request }: ReturnType<typeof replica>,
    refused: Awaited<ReturnType<ReturnType<typeof replica>['request']>>,
  ): Promise<string> {
    await refused.answered(401, 'nothing')
    await expect.poll(async () => (await request()).token).not.toBe(refused.token)
    return (await request()).token
  }

  it('find a token of one another, and a secret, once an answer took a second', async () => {
    const [one, other] = [replica(0), replica(1)]
    const open = await one.request()
    clock.ms += 60_000
    const second = await untilAnotherToken(other, await other.request())
    expect(await open.answered(200, second)).toBe('withheld')
    expect(await open.answered(200, open.token)).toBe('withheld')
    expect(await open.answered(200, 'of somebody else')).toBe('passed')

    const { secret, settings } = partsOf(SECOND)
    const again = await one.request()
    expect(
      await replaceSecret(
        { store: stores[1], vault, now: () => clock.ms },
        credential,
        joinParts(secret, settings),
      ),
    ).toBe(true)
    const third = (await other.request()).token
    expect(third).not.toBe(second)
    clock.ms += 1_000
    for (const text of [open.token, second, third, FIRST, SECOND])
      expect([text, await open.answered(200, text)]).toEqual([text, 'withheld'])
    expect(await again.answered(200, third)).toBe('withheld')
    expect(await again.answered(200, 'of somebody else')).toBe('passed')
  })

  it('find a token of their own whatever the time', async () => {
    const one = replica(0)
    const refused = await one.request()
    clock.ms += 60_000
    const open = await one.request()
    expect(open.token).toBe(refused.token)
    const second = await untilAnotherToken(one, refused)
    const late = await one.request()
    expect(late.token).toBe(second)
    expect(await open.answered(200, second)).toBe('withheld')
    expect(await late.answered(200, open.token)).toBe('withheld')
  })
})
