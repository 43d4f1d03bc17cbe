// Permits that are none: forged, borrowed, cut or from elsewhere. 401, and nothing happens.
import { generateKeyPairSync, sign } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toCanonicalJson } from '../../src/lib/canonical-json.ts'
import { createPublishedKeys } from '../support/published-keys.ts'
import { openSigner } from '../../src/receipts/adapters/signer.ts'
import { decodeJws, JWS_TYPES } from '../../src/receipts/types.ts'
import { newId } from '../../src/lib/ids.ts'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
let elsewhere: TestGateway
let actions: ActionsClient
let permit: string
beforeAll(async () => {
  gw = await startTestGateway()
  elsewhere = await startTestGateway()
  actions = await createActionsClient(gw, gw.url)
  ;({ permit } = await actions.prepare())
})
afterAll(() => Promise.all([gw.close(), elsewhere.close()]))

const encode = (value: unknown) => Buffer.from(toCanonicalJson(value)).toString('base64url')
const partsOf = (jws: string) => jws.split('.') as [string, string, string]
const headOf = (jws: string) => decodeJws(jws).header
const { privateKey } = generateKeyPairSync('ed25519')

/** Signed by a key that nobody published. */
function forge(header: Body, payload: Body): string {
  const signed = `${encode(header)}.${encode(payload)}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}

async function fromElsewhere(): Promise<string> {
  const there = await createActionsClient(elsewhere, elsewhere.url)
  return (await there.prepare()).permit
}

async function receiptOf(): Promise<string> {
  const own = await actions.prepare()
  return (await actions.execute(own.permit)).body.receipt.jws
}

describe('a permit that is none', () => {
  it.each<[string, () => string | Promise<string>]>([
    ['garbage', () => 'garbage'],
    ['a token', () => gw.operatorKey],
    ['three dots', () => '...'],
    ['cut by a character', () => permit.slice(0, -1)],
    ['with a character more', () => `${permit}A`],
    ['without its signature', () => partsOf(permit).slice(0, 2).join('.')],
    ['with an empty signature', () => `${partsOf(permit).slice(0, 2).join('.')}.`],
    [
      'with the signature of another permit',
      async () => {
        const other = await actions.prepare()
        const [head, body] = partsOf(permit)
        return `${head}.${body}.${partsOf(other.permit)[2]}`
      },
    ],
    ['with `alg` none', () => `${encode({ ...headOf(permit), alg: 'none' })}.${partsOf(permit)[1]}.AA`],
    [
      'with another algorithm',
      () => `${encode({ ...headOf(permit), alg: 'HS256' })}.${partsOf(permit).slice(1).join('.')}`,
    ],
    [
      'with the type of a receipt',
      () => `${encode({ ...headOf(permit), typ: JWS_TYPES.receipt })}.${partsOf(permit).slice(1).join('.')}`,
    ],
    [
      'with its claims changed',
      () => {
        const [head, , signature] = partsOf(permit)
        return `${head}.${encode({ ...decodeJws(permit).payload, max_cost: 1000 })}.${signature}`
      },
    ],
    [
      'with the same claims written differently',
      () => {
        const [head, , signature] = partsOf(permit)
        return `${head}.${Buffer.from(JSON.stringify(decodeJws(permit).payload, null, 1)).toString('base64url')}.${signature}`
      },
    ],
    ['signed by another key', () => forge(headOf(permit), decodeJws(permit).payload)],
    [
      'signed by another key for a permit there never was',
      () => forge(headOf(permit), { ...decodeJws(permit).payload, jti: newId('pmt') }),
    ],
    ['of another installation', fromElsewhere],
    ['a receipt', receiptOf],
  ])('is 401: %s', async (_what, make) => {
    const forged = await make()
    const before = { sent: gw.upstream.requests.length, balance: await gw.balance() }
    const refused = await actions.execute(forged)
    expect([refused.status, refused.body.code]).toEqual([401, 'permit_invalid'])
    expect(refused.body).not.toHaveProperty('conflict')
    expect(refused.text).not.toContain(forged.slice(0, 32))
    expect({ sent: gw.upstream.requests.length, balance: await gw.balance() }).toEqual(before)
  })

  it('leaves the true one as good as it was', async () => {
    expect((await actions.execute(permit)).status).toBe(200)
  })

  it('is 400 where there is nothing, or nothing that is text', async () => {
    const send = (body: Body) => gw.rest('POST', '/v1/actions/execute', body, '')
    const request = actions.request()
    expect((await send({ request })).body.code).toBe('input_missing_field')
    expect((await send({ request, permit: 1 })).body.code).toBe('input_wrong_type')
    expect((await send({ request, permit: 'x'.repeat(4097) })).body.code).toBe('input_invalid')
    expect((await send({ request, permit: '' })).body.code).toBe('input_invalid')
  })

  it('needs no token, but refuses a wrong one', async () => {
    const own = await actions.prepare()
    const wrong = await gw.rest(
      'POST',
      '/v1/actions/execute',
      { permit: own.permit, request: actions.request() },
      'agw_sk_wrong',
    )
    expect([wrong.status, wrong.body.code]).toEqual([401, 'key_invalid'])
    expect((await actions.execute(own.permit)).status).toBe(200)
  })
})

describe('a permit of ours whose row is gone', () => {
  /** With the key of the gateway: rows of permits are swept 30 days after they expired. */
  async function signOurs(typ: string): Promise<string> {
    const signer = await openSigner({
      file: join(gw.env['GATEWAY_DATA_DIR']!, 'signing.jwk'),
      store: createPublishedKeys(),
      now: Date.now,
      environment: 'sandbox',
    })
    return signer.sign(typ, { ...decodeJws(permit).payload, jti: newId('pmt') })
  }

  it('was one, and has expired', async () => {
    const old = await actions.execute(await signOurs(JWS_TYPES.permit))
    expect([old.status, old.body.code, old.body.conflict]).toEqual([409, 'permit_expired', 'state'])
  })

  it('was none where it is another kind of document with the same claims', async () => {
    expect((await actions.execute(await signOurs(JWS_TYPES.receipt))).body.code).toBe('permit_invalid')
  })
})
