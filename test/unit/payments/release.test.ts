// What a buyer bought stays the buyer's: what the gate tells to whoever shows a payment, and what to who signs in as its payer.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SignInChallenge } from '../../../schemas/sign-in.ts'
import { ChainError } from '../../../src/payments/chain-ports.ts'
import { buyers, callOf, type OpenGate, openGate, present, refusalOf } from '../../support/payment-gate.ts'
import { unguessableIdentifier } from '../../support/identifiers.ts'
import { presentSignIn, signIn, signInAs } from '../../support/sign-in.ts'

let open: OpenGate
beforeAll(async () => {
  open = await openGate()
})
beforeEach(() => open.reset())
afterAll(() => open.close())

const [payer, stranger] = buyers as [(typeof buyers)[0], (typeof buyers)[0]]
const identified = (id: string) => ({ 'payment-identifier': { info: { required: false, id }, schema: {} } })

/** A payment with nothing in it but what the chain tells. */
async function buyPlainly(extensions: Record<string, unknown> = {}) {
  const payment = present(await open.sign({ extensions }))
  const { claimId, json } = await open.gate.run(callOf({ payment }))
  const { signIn: challenge } = await open.gate.claim(claimId, { payment })
  return { payment, claimId, json, challenge: challenge! }
}
const read = (claimId: string, proof: unknown) => open.gate.claim(claimId, { signIn: presentSignIn(proof) })
const refused = async (claimId: string, proof: unknown) => {
  const error = await read(claimId, proof).then(
    () => undefined,
    (thrown: unknown) => thrown as { code: string; extras: Record<string, unknown> },
  )
  return [error?.code, error?.extras['invalid_reason']]
}

describe('a payment without a secret', () => {
  it.each<[string, Record<string, unknown>]>([
    ['that echoes nothing', {}],
    ['that echoes a challenge it made up', { 'offer-receipt': { info: { challenge: 'A'.repeat(32) } } }],
    ['under an identifier that can be guessed', identified('order-2026-11-22-000001')],
  ])('shows the state and what to sign: one %s', async (_, extensions) => {
    const { payment, claimId, challenge } = await buyPlainly(extensions)
    expect((await open.store.getClaim(claimId))!.secret).toBeNull()
    expect(await open.gate.claim(claimId, { payment })).toMatchObject({
      claim: { state: 'settled' },
      result: null,
      receipt: null,
    })
    expect(challenge).toMatchObject({
      info: { domain: '127.0.0.1:8402', uri: `http://127.0.0.1:8402/v1/payments/${claimId}` },
      supportedChains: [{ chainId: 'eip155:84532', type: 'eip191' }],
    })
  })

  it('buys no copy anything, not even the knowledge that it asks for the same', async () => {
    const id = 'order-2026-11-22-000002'
    const { payment } = await buyPlainly(identified(id))
    const work = vi.fn()
    const told = []
    for (const call of [
      callOf({ payment, work }),
      callOf({ payment, work, digest: 'another' }),
      callOf({ payment: present(await open.sign({ extensions: identified(id) })), work }),
      callOf({ payment: present(await open.sign({ extensions: identified(id) })), work, digest: 'another' }),
    ])
      told.push(await refusalOf(open.gate.run(call)))
    expect(told.map(({ code }) => code)).toEqual(told.map(() => 'payment_claimed'))
    expect(new Set(told.map(({ message }) => message)).size).toBe(1)
    for (const { extras } of told) expect(extras['sign_in']).toBeDefined()
    expect(work).not.toHaveBeenCalled()
  })

  it('gets nothing of the work that is running either', async () => {
    const payment = present(await open.sign({ extensions: identified('order-2026-11-22-000003') }))
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const begun = Promise.withResolvers<void>()
    const first = open.gate.run(
      callOf({
        payment,
        work: async () => {
          begun.resolve()
          await released
          return { text: 'mine', receipt: null }
        },
      }),
    )
    await begun.promise
    const copy = await refusalOf(open.gate.run(callOf({ payment })))
    expect(copy).toMatchObject({ code: 'payment_claimed', extras: { state: 'claimed' } })
    release()
    expect((await first).json).toContain('mine')
  })

  it('with a secret is read with the payment, and a copy is told to show the payment', async () => {
    for (const extensions of [open.echoed(), identified(unguessableIdentifier())]) {
      const payment = present(await open.sign({ extensions }))
      const { claimId, json } = await open.gate.run(callOf({ payment }))
      expect(await open.gate.claim(claimId, { payment })).toMatchObject({ result: json, signIn: null })
    }
    const payment = present(await open.sign({ extensions: open.echoed() }))
    await open.gate.run(callOf({ payment }))
    expect((await refusalOf(open.gate.run(callOf({ payment })))).extras).not.toHaveProperty('sign_in')
  })
})

describe('the fresh signature of the payer', () => {
  it('gets the result byte for byte, once', async () => {
    const { payment, claimId, json, challenge } = await buyPlainly()
    const proof = await signIn(payer, challenge)
    const shown = await read(claimId, proof)
    expect(shown).toMatchObject({ result: json, receipt: JSON.parse(json).receipt, signIn: null })
    expect(await refused(claimId, proof)).toEqual(['sign_in_refused', 'used'])
    // The payment itself says no more than before.
    expect((await open.gate.claim(claimId, { payment })).result).toBeNull()
  })

  it('is taken once by all replicas, and uses up every earlier one', async () => {
    const { payment, claimId, challenge } = await buyPlainly()
    const early = await signIn(payer, challenge)
    open.clock.now += 1
    const { signIn: later } = await open.gate.claim(claimId, { payment })
    const proof = await signIn(payer, later!)
    const sibling = open.sibling()
    const both = await Promise.allSettled(
      [open.gate, sibling].map((gate) => gate.claim(claimId, { signIn: presentSignIn(proof) })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await refused(claimId, early)).toEqual(['sign_in_refused', 'used'])
    open.clock.now += 1
    const { signIn: next } = await open.gate.claim(claimId, { payment })
    expect((await read(claimId, await signIn(payer, next!))).result).not.toBeNull()
  })

  it('tells as much of a claim that failed or is not decided', async () => {
    open.world.ending = 'unknown'
    const payment = present(await open.sign())
    const error = await refusalOf(open.gate.run(callOf({ payment })))
    const claimId = error.extras['claim_id'] as string
    const { signIn: challenge } = await open.gate.claim(claimId, { payment })
    expect(await read(claimId, await signIn(payer, challenge!))).toMatchObject({
      claim: { state: 'unknown' },
      result: null,
      signIn: null,
    })
  })

  it('can be of a wallet that counts the recovery id from 0', async () => {
    const { claimId, json, challenge } = await buyPlainly()
    const proof = await signIn(payer, challenge)
    const v = proof.signature.endsWith('1b') ? '00' : '01'
    const shown = await read(claimId, { ...proof, signature: proof.signature.slice(0, -2) + v })
    expect(shown.result).toBe(json)
  })

  it.each<[string, string, () => Partial<SignInChallenge['info'] & { chainId: string }>]>([
    ['another domain', 'other_domain', () => ({ domain: 'gateway.evil.example' })],
    ['another address', 'other_payment', () => ({ uri: 'http://127.0.0.1:8402/v1/payments/clm_other' })],
    ['a nonce of its own', 'other_payment', () => ({ nonce: '0123456789abcdef0123456789abcdef' })],
    ['another moment', 'other_payment', () => ({ issuedAt: new Date(open.clock.now + 1).toISOString() })],
    ['a later end', 'changed', () => ({ expirationTime: new Date(open.clock.now + 9e8).toISOString() })],
    ['another statement', 'changed', () => ({ statement: 'Sign in to win' })],
    ['more resources', 'changed', () => ({ resources: ['https://evil.example/'] })],
    ['another chain', 'other_chain', () => ({ chainId: 'eip155:8453' })],
  ])('is refused over %s', async (_, reason, over) => {
    const { claimId, challenge } = await buyPlainly()
    const changed = over()
    const uri = changed.domain === undefined ? undefined : challenge.info.uri
    const proof = await signIn(payer, challenge, uri === undefined ? changed : {}).then(async (plain) =>
      uri === undefined ? plain : { ...plain, ...changed },
    )
    expect(await refused(claimId, proof)).toEqual(['sign_in_refused', reason])
  })

  it('is refused over another claim of the same payer', async () => {
    const [one, other] = [await buyPlainly(), await buyPlainly()]
    expect(await refused(other.claimId, await signIn(payer, one.challenge))).toEqual([
      'sign_in_refused',
      'other_payment',
    ])
    const moved = {
      ...(await signIn(payer, one.challenge)),
      uri: other.challenge.info.uri,
      nonce: other.challenge.info.nonce,
    }
    expect(await refused(other.claimId, moved)).toEqual(['sign_in_refused', 'changed'])
    const forged = { ...(await signIn(payer, one.challenge)), ...other.challenge.info }
    expect(await refused(other.claimId, forged)).toEqual(['sign_in_refused', 'signature'])
  })

  it('is refused five minutes later, and one second before that it is not', async () => {
    const late = await buyPlainly()
    const proof = await signIn(payer, late.challenge)
    open.clock.now += 299_999
    const punctual = await read(late.claimId, proof)
    expect(punctual.result).toBe(late.json)
    const stale = await buyPlainly()
    const old = await signIn(payer, stale.challenge)
    open.clock.now += 300_000
    expect(await refused(stale.claimId, old)).toEqual(['sign_in_refused', 'expired'])
  })

  it.each<[string, Record<string, unknown>]>([
    ['no signature', { signature: undefined }],
    ['a signature that is no hex', { signature: '0xzz' }],
    ['a signature of three kilobytes', { signature: `0x${'ab'.repeat(3000)}` }],
    ['two lines in one', { statement: 'a\nURI: b' }],
    ['a member more', { notBefore: '2026-01-01T00:00:00Z' }],
    ['the curve of another chain', { type: 'ed25519' }],
    ['no moment', { issuedAt: 'soon' }],
    ['a moment that no calendar has', { issuedAt: '+275760-09-13T00:00:00.000Z' }],
  ])('is refused with %s', async (_, over) => {
    const { claimId, challenge } = await buyPlainly()
    const proof = { ...(await signIn(payer, challenge)), ...over }
    const [code, reason] = await refused(claimId, Buffer.from(JSON.stringify(proof)).toString('base64'))
    expect(code).toBe('sign_in_refused')
    expect(['malformed', 'expired']).toContain(reason)
  })

  it.each(['', 'not base64!', Buffer.from('[]').toString('base64'), Buffer.from('7').toString('base64')])(
    'is refused where it is none: %j',
    async (text) => {
      const { claimId } = await buyPlainly()
      expect(await refused(claimId, text)).toEqual(['sign_in_refused', 'malformed'])
    },
  )

  it('of anybody else finds nothing, as where there is no such claim', async () => {
    const { claimId, challenge } = await buyPlainly()
    const missing = 'clm_00000000000000000000000000000000000'
    const own = await signIn(stranger, challenge)
    const [other, none] = await Promise.all(
      [claimId, missing].map((id) =>
        read(id, own).catch((thrown: unknown) => thrown as Error & { extras: object }),
      ),
    )
    for (const error of [other, none]) expect(error).toMatchObject({ code: 'payment_not_found' })
    expect((other as Error).message).toBe((none as Error).message)
    expect(Object.keys((other as { extras: object }).extras)).toEqual(
      Object.keys((none as { extras: object }).extras),
    )
    // Who names the payer has to be the payer.
    expect(await refused(claimId, { ...own, address: payer.address })).toEqual([
      'sign_in_refused',
      'signature',
    ])
  })
})

it.each(['clm_x\nNonce: 0', 'clm_\ud800', '../../settle', '%'])(
  'an address that is asked for cannot become another line of what is signed: %j',
  async (claimId) => {
    const error = await open.gate.claim(claimId, {}).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'payment_not_found' })
    const { info } = (error as { extras: { sign_in: SignInChallenge } }).extras.sign_in
    expect(info.uri).toMatch(/^http:\/\/127\.0\.0\.1:8402\/v1\/payments\/[\w.%-]+$/)
    expect(info.resources).toEqual([info.uri])
  },
)

describe('a contract wallet', () => {
  it('is asked itself, and its yes is the signature', async () => {
    const { claimId, json, challenge } = await buyPlainly()
    const proof = await signInAs(payer.address, stranger, challenge)
    expect(await refused(claimId, proof)).toEqual(['sign_in_refused', 'signature'])
    open.world.wallet = () => true
    expect((await read(claimId, proof)).result).toBe(json)
    expect(open.world.asked.at(-1)).toMatchObject({ account: payer.address.toLowerCase() })
    expect(open.world.asked.at(-1)?.digest).toHaveLength(32)
  })

  it('that cannot be asked uses nothing up', async () => {
    const { claimId, json, challenge } = await buyPlainly()
    const proof = await signInAs(payer.address, stranger, challenge)
    open.world.wallet = () => {
      throw new ChainError('timeout', 'eip155:84532')
    }
    expect(await refused(claimId, proof)).toEqual(['payments_unavailable', undefined])
    open.world.wallet = () => true
    expect((await read(claimId, proof)).result).toBe(json)
  })
})
