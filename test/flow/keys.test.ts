import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

let gw: TestGateway
beforeAll(async () => void (gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '10' } })))
afterAll(() => gw.close())

const newAccount = async (name: string) => (await gw.rest('POST', '/v1/keys', { account: 'new', name })).body

describe('service keys', () => {
  it('open accounts that see nothing of each other', async () => {
    const a = await newAccount('a')
    const b = await newAccount('b')
    expect(a).toMatchObject({ admin: false, credits: 10 })
    expect(a.account_id).not.toBe(b.account_id)
    const credential = await gw.rest(
      'POST',
      '/v1/egress/credentials',
      { provider: 'github', secret: 'upstream-secret-1', path_prefixes: ['/'], methods: ['GET'] },
      a.key,
    )
    const id = credential.body.credential_id
    expect((await gw.rest('GET', '/v1/egress/credentials', undefined, a.key)).body.credentials).toHaveLength(
      1,
    )
    expect((await gw.rest('GET', '/v1/egress/credentials', undefined, b.key)).body.credentials).toEqual([])
    for (const [path, body] of [
      [`/v1/egress/credentials/${id}/revoke`, {}],
      [`/v1/egress/credentials/${id}/rotate`, { secret: 'upstream-secret-2' }],
      ['/v1/egress/capabilities', { credential_id: id }],
    ] as const) {
      const answer = await gw.rest('POST', path, body, b.key)
      expect([answer.status, answer.body.code], path).toEqual([404, 'credential_not_found'])
    }
  })

  it('are added to an account without credits, listed without tokens and end when revoked', async () => {
    const a = await newAccount('c')
    const more = await gw.rest('POST', '/v1/keys', { label: 'deploy' }, a.key)
    expect([more.status, more.body.credits, more.body.account_id]).toEqual([201, 0, a.account_id])
    const list = await gw.rest('GET', '/v1/keys', undefined, a.key)
    expect(list.body.keys.map((key: { label: string }) => key.label)).toEqual(['deploy', 'service key'])
    expect(list.text).not.toMatch(/agw_sk_/)
    expect((await gw.rest('POST', `/v1/keys/${more.body.key_id}/revoke`, {}, a.key)).status).toBe(200)
    const refused = await gw.rest('GET', '/v1/credits', undefined, more.body.key)
    expect([refused.status, refused.body.code]).toEqual([401, 'key_invalid'])
  })

  it('of the administrator see every account, and the last one stays', async () => {
    const a = await newAccount('d')
    const all = (await gw.rest('GET', '/v1/keys?limit=100')).body.keys
    expect(all.map((key: { account_id: string }) => key.account_id)).toContain(a.account_id)
    const own = all.find((key: { admin: boolean }) => key.admin)
    const refused = await gw.rest('POST', `/v1/keys/${own.key_id}/revoke`, {})
    expect([refused.status, refused.body.code]).toEqual([409, 'state_conflict'])
    expect((await gw.rest('POST', `/v1/keys/${a.key_id}/revoke`, {})).status).toBe(200)
  })

  it.each([
    ['POST', '/v1/keys', { account: 'new' }],
    ['POST', '/v1/credits/grants', { amount: 1, reference: 'x' }],
    ['POST', '/v1/authority/rotate', {}],
  ])('of other accounts may not %s %s', async (method, path, body) => {
    const { key } = await newAccount('e')
    const answer = await gw.rest(method, path, body, key)
    expect([answer.status, answer.body.code]).toEqual([403, 'admin_required'])
  })
})

describe('credits', () => {
  it('are granted once per reference, to any account, and every movement is in the ledger', async () => {
    const { account_id, key } = await newAccount('f')
    const grant = (amount: number, reference: string) =>
      gw.rest('POST', '/v1/credits/grants', { account_id, amount, reference })
    expect((await grant(5, 'one')).body).toEqual({ account_id, balance: 15, repeated: false })
    expect((await grant(5, 'one')).body).toEqual({ account_id, balance: 15, repeated: true })
    const { balance, ledger, next } = (await gw.rest('GET', '/v1/credits', undefined, key)).body
    expect({ balance, next }).toEqual({ balance: 15, next: null })
    expect(
      ledger.map(({ amount, reference }: { amount: number; reference: string }) => [amount, reference]),
    ).toEqual([
      [5, 'one'],
      [10, 'free credits'],
    ])
  })

  it('can be read page by page without losing or repeating a movement', async () => {
    const { account_id, key } = await newAccount('g')
    for (let i = 0; i < 5; i++)
      await gw.rest('POST', '/v1/credits/grants', { account_id, amount: 1, reference: `r${i}` })
    const seen: string[] = []
    let before = ''
    do {
      const page = (await gw.rest('GET', `/v1/credits?limit=2${before}`, undefined, key)).body
      seen.push(...page.ledger.map((entry: { reference: string }) => entry.reference))
      before = page.next === null ? '' : `&before=${page.next}`
    } while (before !== '')
    expect(seen).toEqual(['r4', 'r3', 'r2', 'r1', 'r0', 'free credits'])
  })

  it('answer account_not_found for an account that does not exist', async () => {
    const grant = { account_id: 'acct_none', amount: 1, reference: 'x' }
    const answer = await gw.rest('POST', '/v1/credits/grants', grant)
    expect([answer.status, answer.body.code]).toEqual([404, 'account_not_found'])
  })

  it('show a capability the balance that pays for it, and no movements of others', async () => {
    const { capability } = await gw.grant()
    await gw.fetch(capability, { url: gw.url('/') })
    const { balance, ledger } = (await gw.rest('GET', '/v1/credits', undefined, capability)).body
    expect([balance, ledger]).toEqual([await gw.balance(), []])
  })
})

describe('receipts', () => {
  it('are readable by anyone who holds the id, and by nobody who guesses', async () => {
    const { capability } = await gw.grant()
    const { receipt } = (await gw.fetch(capability, { url: gw.url('/a?b=c') })).body
    const read = await gw.rest('GET', `/v1/receipts/${receipt.receipt_id}`, undefined, '')
    expect(read.body).toMatchObject({
      ...receipt,
      typ: 'gw-receipt+jws',
      claims: { jti: receipt.receipt_id },
    })
    expect(receipt.url).toBe(`${gw.baseUrl}/v1/receipts/${receipt.receipt_id}`)
    for (const id of ['rcp_0000000000000000000000000000000000', 'x', '%00', 'a'.repeat(64)]) {
      const none = await gw.rest('GET', `/v1/receipts/${id}`, undefined, '')
      expect([none.status, none.body.code], id).toEqual([404, 'receipt_not_found'])
    }
  })
})
