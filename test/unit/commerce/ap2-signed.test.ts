// What an AP2 mandate has to say before anybody can be held to it: signature, algorithm, key, audience, nonce and hash of each token.
import { constants, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import type { TransactionInput } from '../../../src/commerce/ports.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { type Change, change, type Plain, signatureOf, wire } from '../../support/commerce.ts'

const policy = toPolicy({ default: { caps: [{ currency: 'EUR', max: '5000000' }] }, accounts: {} }, undefined)
const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const remove = (at: string): Change => ({ op: 'remove', at })
const PAYMENT = '/body/payment_mandate_chain/$chain'
const CHECKOUT = '/body/checkout_mandate/$chain'

function look(input: TransactionInput) {
  const { decision, reasons } = inspectTransaction(input, policy, 1_790_000_120_000).policy
  const { score, caps } = testTransaction(input)
  return {
    decision,
    codes: reasons.map(({ code, severity }) => `${code} ${severity}`),
    score,
    caps: caps.map(({ id }) => id),
  }
}
const lookAt = (name: string, ...changes: Change[]) =>
  look(wire(change(SAMPLES[name]!, changes)) as TransactionInput)

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const sha256 = (text: string) => hash('sha256', text, 'base64url')
const SIGNATURE = 'Zm9ydHktdHdvIGlzIG5vdCBhIHNpZ25hdHVyZSwgYnV0IGl0IGlzIGFzIGxvbmcgYXMgb25l'
const jwt = (payload: unknown, header: unknown = { alg: 'ES256' }, signature?: string) => {
  const text = `${encode(header)}.${encode(payload)}`
  return `${text}.${signature ?? signatureOf(text)}`
}
const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
}
const SHOP = { id: 'shop_81', name: 'Tea shop' }
const open = (more: object = {}) => ({
  vct: 'mandate.payment.open.1',
  constraints: [
    { type: 'payment.amount_range', currency: 'EUR', max: 5000 },
    { type: 'payment.allowed_payees', allowed: [SHOP] },
  ],
  cnf: { jwk: KEY },
  iat: 1_790_000_000,
  exp: 1_790_003_600,
  ...more,
})
const closed = (more: object = {}) => ({
  vct: 'mandate.payment.1',
  transaction_id: sha256('cart'),
  payee: SHOP,
  payment_amount: { amount: 1890, currency: 'EUR' },
  payment_instrument: { id: 'card-1', type: 'card' },
  exp: 1_790_000_660,
  ...more,
})
const claims = (sdHash: string, more: object = {}) => ({
  iat: 1_790_000_060,
  aud: 'credential-provider',
  nonce: 'Wn4pQz81LrT0sVb6Kc3MxY',
  sd_hash: sdHash,
  ...more,
})
const KB = { alg: 'ES256', typ: 'kb+sd-jwt' }
const send = (token: string, name = 'payment_mandate_chain'): TransactionInput => ({
  target: 'https://wallet.example/credentials',
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'Idempotency-Key': '0b6f4c5e-91d3-4a7e-8c25-6f1de0a973b4' },
  body: { [name]: token },
})
const FIRST = `${jwt({ delegate_payload: [open()] })}~`
const chain = (...tokens: string[]) => tokens.map((token) => token.replace(/~$/, '')).join('~~') + '~'
const second = (mandate: object, more: object = {}, header: object = KB, before = FIRST) =>
  `${jwt({ delegate_payload: [mandate], ...claims(sha256(before), more) }, header)}~`

describe('a mandate of AP2', () => {
  it('that is whole is allowed however its audience is written; what no key in it can verify is for a person', () => {
    expect(look(send(chain(FIRST, second(closed())))).decision).toBe('allow')
    for (const alg of ['ES384', 'EdDSA', 'PS256', 'ML-DSA-65'])
      expect(look(send(chain(FIRST, second(closed(), {}, { ...KB, alg })))).codes).toContain(
        'SIGNATURE_INVALID review',
      )
    expect(look(send(chain(FIRST, second(closed(), { aud: ['a', 'b'] })))).decision).toBe('allow')
    for (const cnf of [{ jwk: { kty: 'OKP', crv: 'Ed25519', x: KEY.x } }, { kid: 'agent-1' }]) {
      const first = `${jwt({ delegate_payload: [open({ cnf })] })}~`
      expect(look(send(chain(first, second(closed(), {}, KB, first)))).codes).toContain(
        'SIGNATURE_INVALID review',
      )
    }
  })

  it('that another key signed than the one its open mandate names is denied', () => {
    const signature = signatureOf('another text')
    const forged = second(closed()).replace(/[\w-]+~$/, `${signature}~`)
    expect(look(send(chain(FIRST, forged)))).toMatchObject({
      decision: 'deny',
      codes: expect.arrayContaining(['SIGNATURE_INVALID deny']),
      caps: expect.arrayContaining(['MISMATCH']),
    })
    const notes = (token: string) => testTransaction(send(chain(FIRST, token))).notes.map(({ id }) => id)
    expect([notes(second(closed())), notes(forged)]).toEqual([
      expect.arrayContaining(['SIGNATURE_VERIFIED']),
      expect.arrayContaining(['SIGNATURE_INVALID']),
    ])
  })

  it.each([
    { alg: 'ES256', digest: 'sha256', pair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
    { alg: 'ES384', digest: 'sha384', pair: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }) },
    { alg: 'ES512', digest: 'sha512', pair: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }) },
    { alg: 'ES256K', digest: 'sha256', pair: () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) },
    { alg: 'EdDSA', digest: null, pair: () => generateKeyPairSync('ed25519') },
    { alg: 'Ed25519', digest: null, pair: () => generateKeyPairSync('ed25519') },
    { alg: 'RS256', digest: 'sha256', pair: () => generateKeyPairSync('rsa', { modulusLength: 2048 }) },
    { alg: 'PS256', digest: 'sha256', pair: () => generateKeyPairSync('rsa', { modulusLength: 2048 }) },
  ])(
    'is verified by $alg, and denied where a bit of the signature or the key differs',
    ({ alg, digest, pair }) => {
      const [own, other] = [pair(), pair()]
      const first = `${jwt({ delegate_payload: [open({ cnf: { jwk: own.publicKey.export({ format: 'jwk' }) } })] })}~`
      const text = second(closed(), {}, { ...KB, alg }, first).replace(/\.[\w-]+~$/, '')
      const padding = alg.startsWith('PS')
        ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
        : {}
      const signBy = ({ privateKey }: { readonly privateKey: KeyObject }) =>
        sign(digest, Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363', ...padding })
      const signed = (bytes: Buffer) => look(send(chain(first, `${text}.${bytes.toString('base64url')}~`)))
      const good = signBy(own)
      expect(signed(good).decision).toBe('allow')
      expect(signed(signBy(other)).codes).toContain('SIGNATURE_INVALID deny')
      good[9]! ^= 1
      expect(signed(good).codes).toContain('SIGNATURE_INVALID deny')
    },
  )

  it('is verified together with seven others: of more than eight signatures the rest is for a person', () => {
    const opens = Array.from({ length: 10 }, (_, index) => ({
      [`mandate_${index}_chain`]: chain(FIRST, second(closed({ transaction_id: sha256(`cart ${index}`) }))),
    }))
    const of = (count: number) => {
      const body = Object.assign({}, ...opens.slice(0, count)) as Record<string, Plain>
      const { notes } = testTransaction({ ...send(''), body })
      return ['SIGNATURE_VERIFIED', 'SIGNATURE_UNVERIFIED'].map(
        (wanted) => notes.filter(({ id }) => id === wanted).length,
      )
    }
    expect(of(8)).toEqual([8, 0])
    expect(of(10)).toEqual([8, 2])
  })

  it('tries sixteen keys of a message: where tokens name eight each, the third is for a person', () => {
    const pairs = Array.from({ length: 7 }, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }))
    const keys = [...pairs.map(({ publicKey }) => publicKey.export({ format: 'jwk' })), KEY]
    const first = `${jwt({ delegate_payload: keys.map((jwk) => open({ cnf: { jwk } })) })}~`
    const verified = (count: number, before: string) => {
      const body = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `mandate_${index}_chain`,
          chain(before, second(closed({ transaction_id: sha256(`cart ${index}`) }), {}, KB, before)),
        ]),
      )
      return testTransaction({ ...send(''), body }).notes.filter(({ id }) => id === 'SIGNATURE_VERIFIED')
        .length
    }
    expect([verified(2, first), verified(3, first)]).toEqual([2, 2])
    // A key that is named again and again is one.
    const same = `${jwt({ delegate_payload: keys.map(() => open()) })}~`
    expect(verified(3, same)).toBe(3)
  })

  it('whose last token says no type of mandate is not allowed by the open one before it', () => {
    const { vct: _vct, ...untyped } = closed({ payee: { id: 'somebody_else' } })
    expect(look(send(chain(FIRST, second(untyped))))).toMatchObject({
      decision: 'deny',
      codes: expect.arrayContaining(['SIGNED_MEMBER_MISSING deny']),
      score: 40,
    })
    const odd = look(send(chain(FIRST, second({ ...untyped, vct: 'payment' }))))
    expect([odd.decision, odd.codes]).toEqual(['review', expect.arrayContaining(['UNKNOWN_PROTOCOL review'])])
  })

  it.each(['open', 'mandate'])('has times that are numbers, or none (%s)', (token) => {
    for (const name of ['iat', 'nbf', 'exp'])
      for (const value of ['1600000000', -1, [1_600_000_000], true])
        expect(lookAt('ap2-payment', set(`${PAYMENT}/${token}/${name}`, value)).codes).toContain(
          'SIGNED_MEMBER_MALFORMED deny',
        )
    expect(lookAt('ap2-payment', set(`${PAYMENT}/${token}/nbf`, null)).decision).toBe('allow')
  })

  it.each(['open', 'mandate'])('does not hold before its nbf (%s)', (token) => {
    expect(lookAt('ap2-payment', set(`${PAYMENT}/${token}/nbf`, 1_790_000_060)).decision).toBe('allow')
    expect(lookAt('ap2-payment', set(`${PAYMENT}/${token}/nbf`, 1_790_000_400)).codes).toContain(
      'NOT_YET_VALID review',
    )
  })

  it('that a person signed needs no open one, no audience and no nonce', () => {
    const direct = look(send(`${jwt({ ...closed(), iat: 1_790_000_060 })}~`, 'payment_mandate'))
    expect([direct.decision, direct.codes.filter((code) => !code.endsWith('info'))]).toEqual(['allow', []])
  })

  it.each<[what: string, name: string, changes: Change[]]>([
    ['audience', 'ap2-payment', [remove(`${PAYMENT}/token/aud`)]],
    ['nonce', 'ap2-payment', [remove(`${PAYMENT}/token/nonce`)]],
    ['nonce that is not empty', 'ap2-payment', [set(`${PAYMENT}/token/nonce`, '')]],
    ['time of its making', 'ap2-payment', [remove(`${PAYMENT}/token/iat`)]],
    ['time of its making that is a number', 'ap2-payment', [set(`${PAYMENT}/token/iat`, '1790000060')]],
    ['hash of the open one', 'ap2-payment', [remove(`${PAYMENT}/token/sd_hash`)]],
    [
      'open one and no hash of it',
      'ap2-payment',
      [remove(`${PAYMENT}/open`), remove(`${PAYMENT}/token/sd_hash`)],
    ],
    ['key of the agent', 'ap2-payment', [remove(`${PAYMENT}/open/cnf`)]],
    ['key of the agent that is whole', 'ap2-payment', [remove(`${PAYMENT}/open/cnf/jwk/x`)]],
    [
      'key that is not shared',
      'ap2-payment',
      [set(`${PAYMENT}/open/cnf/jwk`, { kty: 'oct', k: 'c2hhcmVk' })],
    ],
    ['key that is public', 'ap2-payment', [set(`${PAYMENT}/open/cnf/jwk/d`, 'cHJpdmF0ZQ')]],
    ['transaction', 'ap2-payment', [remove(`${PAYMENT}/mandate/transaction_id`)]],
    ['payee', 'ap2-payment', [remove(`${PAYMENT}/mandate/payee`)]],
    [
      'payee with an id or a name',
      'ap2-payment',
      [set(`${PAYMENT}/mandate/payee`, { website: 'https://shop.example' })],
    ],
    ['amount', 'ap2-payment', [remove(`${PAYMENT}/mandate/payment_amount/amount`)]],
    ['amount of whole units', 'ap2-payment', [set(`${PAYMENT}/mandate/payment_amount/amount`, 18.9)]],
    ['amount of zero or more', 'ap2-payment', [set(`${PAYMENT}/mandate/payment_amount/amount`, -1)]],
    ['currency', 'ap2-payment', [remove(`${PAYMENT}/mandate/payment_amount/currency`)]],
    ['instrument', 'ap2-payment', [remove(`${PAYMENT}/mandate/payment_instrument`)]],
    ['hash of the checkout', 'ap2-checkout', [remove(`${CHECKOUT}/mandate/checkout_hash`)]],
    ['checkout', 'ap2-checkout', [remove(`${CHECKOUT}/mandate/checkout_jwt`)]],
    [
      'checkout that is signed',
      'ap2-checkout',
      [set(`${CHECKOUT}/mandate/checkout_jwt`, jwt({ id: 'c' }, { alg: 'none' }, ''))],
    ],
    [
      'checkout that the merchant signed',
      'ap2-checkout',
      [set(`${CHECKOUT}/mandate/checkout_jwt`, jwt({ id: 'c' }, { alg: 'HS256' }))],
    ],
  ])('without its %s is denied, and scores 40 at most', (_, name, changes) => {
    const seen = lookAt(name, ...changes)
    expect(seen).toMatchObject({ decision: 'deny' })
    expect(seen.codes.join()).toMatch(/SIGNED_MEMBER_(?:MISSING|MALFORMED) deny/)
    expect(seen.caps).toContain('INCOMPLETE')
    expect(seen.score).toBeLessThanOrEqual(40)
  })

  it.each<[what: string, token: string]>([
    ['is not there', chain(FIRST, second(closed()).replace(/\.[^.~]*~$/, '.~'))],
    ['has no place', chain(FIRST, second(closed()).replace(/\.[^.~]*~$/, '~'))],
    ['is no base64url', chain(FIRST, second(closed()).replace(/\.[^.~]*~$/, '.!!not base64!!~'))],
    ['is too short', chain(FIRST, second(closed()).replace(/\.[^.~]*~$/, '.c2ln~'))],
    [
      'is not there in the open one',
      chain(`${jwt({ delegate_payload: [open()] }, { alg: 'ES256' }, '')}~`, second(closed())),
    ],
    ['is of nobody', chain(FIRST, second(closed(), {}, { ...KB, alg: 'none' }))],
    ['is of nobody in other letters', chain(FIRST, second(closed(), {}, { ...KB, alg: 'nOnE' }))],
    ['is of a shared secret', chain(FIRST, second(closed(), {}, { ...KB, alg: 'HS256' }))],
    ['is of an algorithm that nobody named', chain(FIRST, second(closed(), {}, { typ: 'kb+sd-jwt' }))],
    [
      'of the open one is of a shared secret',
      chain(`${jwt({ delegate_payload: [open()] }, { alg: 'HS512' })}~`, second(closed())),
    ],
  ])('whose signature %s is denied, under whatever name it comes', (_, token) => {
    for (const name of ['payment_mandate_chain', 'credential'])
      expect(look(send(token, name))).toMatchObject({ decision: 'deny' })
  })

  it('with an ellipsis for a signature is an example: somebody has to look', () => {
    const token = chain(FIRST, second(closed()).replace(/\.[^.~]*~$/, '.MEUCIQ...~'))
    expect(look(send(token))).toMatchObject({ decision: 'review', caps: [] })
  })

  it('of which one token cannot be read is denied under whatever name it comes', () => {
    const broken = `eyJub3Rr.${encode(closed())}.${SIGNATURE}~`
    expect(look(send(chain(FIRST, broken), 'credential'))).toMatchObject({
      decision: 'deny',
      caps: ['UNDECODABLE'],
    })
  })

  it('with more tokens or mandates than any delegation has is denied, so that none goes unseen', () => {
    const many = (count: number) =>
      `${jwt({ delegate_payload: Array.from({ length: count }, () => closed()) })}~`
    const hops = Array.from({ length: 9 }, () => second(closed()))
    for (const token of [many(9), chain(FIRST, ...hops)])
      for (const name of ['payment_mandate_chain', 'credential'])
        expect(look(send(token, name))).toMatchObject({ decision: 'deny', caps: ['UNDECODABLE'] })
    expect(look(send(many(8)))).toMatchObject({ decision: 'allow' })
  })

  it('whose open one did not come along is for somebody to look at', () => {
    expect(look(send(second(closed()), 'payment_mandate')).codes).toContain('BINDING_HASH review')
  })

  it('may leave out what is disclosed of the open one: issuer_jwt_hash', () => {
    const hashed = (value: string) => second(closed(), { sd_hash: undefined, issuer_jwt_hash: value })
    expect(look(send(chain(FIRST, hashed(sha256(FIRST.slice(0, -1)))))).decision).toBe('allow')
    expect(look(send(chain(FIRST, hashed(sha256(FIRST))))).codes).toContain('BINDING_HASH deny')
  })

  it('of three tokens is held to the hash of each, and to what each allows', () => {
    const middle = (max: number, before = FIRST) =>
      second(
        open({ constraints: [{ type: 'payment.amount_range', currency: 'EUR', max }] }),
        {},
        { ...KB, typ: 'kb+sd-jwt+kb' },
        before,
      )
    const last = (before: string) => second(closed(), {}, KB, before)
    const sound = middle(2000)
    expect(look(send(chain(FIRST, sound, last(sound)))).decision).toBe('allow')
    const strict = middle(1000)
    expect(look(send(chain(FIRST, strict, last(strict)))).codes).toContain('BINDING_CONSTRAINT deny')
    const foreign = middle(2000, 'another~')
    expect(look(send(chain(FIRST, foreign, last(foreign)))).codes).toContain('BINDING_HASH deny')
    expect(look(send(chain(FIRST, sound, last(FIRST)))).codes).toContain('BINDING_HASH deny')
  })

  it('with a second payment in the same token is held to that as well', () => {
    const two = `${jwt({ delegate_payload: [closed(), closed({ payment_amount: { amount: 5001, currency: 'EUR' } })], ...claims(sha256(FIRST)) }, KB)}~`
    expect(look(send(chain(FIRST, two))).codes).toContain('BINDING_CONSTRAINT deny')
  })

  it('under an open one of the other kind is denied', () => {
    const first = `${jwt({ delegate_payload: [open({ vct: 'mandate.checkout.open.1', constraints: [] })] })}~`
    expect(look(send(chain(first, second(closed(), {}, KB, first)))).codes).toContain(
      'BINDING_CONSTRAINT deny',
    )
  })

  it('that a wallet delegates in a key binding is read there', () => {
    const credential = jwt({
      vct: 'com.emvco.dpc',
      cnf: { jwk: KEY },
      _sd: [sha256(encode(['c2FsdA', 'card_last_four', '4242']))],
    })
    const disclosed = `${credential}~${encode(['c2FsdA', 'card_last_four', '4242'])}~`
    const bind = (mandate: object, more: object = {}) =>
      `${disclosed}${jwt({ delegate_payload: [mandate], ...claims(sha256(disclosed), more) }, { alg: 'ES256', typ: 'kb+jwt' })}`
    expect(look(send(bind(closed()), 'vp_token')).decision).toBe('allow')
    expect(look(send(bind(closed(), { sd_hash: sha256('x') }), 'vp_token')).codes).toContain(
      'BINDING_HASH deny',
    )
    const forged = bind(closed()).replace(/[\w-]+$/, signatureOf('another text'))
    expect(look(send(forged, 'vp_token'))).toMatchObject({
      decision: 'deny',
      codes: expect.arrayContaining(['SIGNATURE_INVALID deny']),
    })
    expect(look(send(bind(closed()).replace(/\.[^.]*$/, '.'), 'vp_token')).codes).toContain(
      'SIGNED_MEMBER_MISSING deny',
    )
  })

  it('of a type that 0.2 does not define is for somebody to look at', () => {
    expect(look(send(`${jwt({ ...closed(), vct: 'mandate.payment.7' })}~`)).codes).toContain(
      'UNKNOWN_PROTOCOL review',
    )
  })

  it.each<[what: string, disclosures: string[], mandate: (digests: string[]) => object]>([
    [
      'is there twice',
      [encode(['c2FsdA', SHOP]), encode(['c2FsdA', SHOP])],
      ([one]) => ({ payee: SHOP, other: [{ '...': one }] }),
    ],
    [
      'fills two places',
      [encode(['c2FsdA', SHOP])],
      ([one]) => ({ payee: SHOP, other: [{ '...': one }, { '...': one }] }),
    ],
    [
      'takes the place of a member',
      [encode(['c2FsdA', 'payee', SHOP])],
      ([one]) => ({ payee: { id: 'x' }, _sd: [one] }),
    ],
    [
      'has a name that is reserved',
      [encode(['c2FsdA', '_sd', []])],
      ([one]) => ({ payee: SHOP, _sd: [one] }),
    ],
    [
      'is an item where a member belongs',
      [encode(['c2FsdA', SHOP])],
      ([one]) => ({ payee: SHOP, _sd: [one] }),
    ],
  ])('with a disclosure that %s is denied', (_, disclosures, mandate) => {
    const token = second(closed(mandate(disclosures.map(sha256))))
    expect(look(send(chain(FIRST, token + disclosures.join('~')))).codes).toContain('BINDING_HASH deny')
  })

  it('with a disclosure in its place is allowed', () => {
    const payee = encode(['c2FsdA', 'payee', SHOP])
    const token = second(closed({ payee: undefined, _sd: [sha256(payee), sha256('decoy')] }))
    expect(look(send(chain(FIRST, `${token}${payee}`))).decision).toBe('allow')
  })

  it('made a day from now is not valid yet', () => {
    expect(look(send(`${jwt({ ...closed(), iat: 1_790_086_400, exp: 1_790_086_500 })}~`)).codes).toContain(
      'NOT_YET_VALID review',
    )
  })
})
