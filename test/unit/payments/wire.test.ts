import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import type { Payment } from '../../../src/payments/ports.ts'
import type { PresentedPayment } from '../../../src/core/charging.ts'
import { decodeFacilitatorRequest, decodePayment } from '../../../src/payments/wire.ts'
import { SIGNED_MEMBERS } from '../../../src/commerce/signed-members.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { cites } from '../../requirements.ts'

const networks = createNetworks([8453, 84532])
const FROM = '0x9D8A62f656a8d1615C1294fd71e9CFb3E4855A4F'
const PAY_TO = '0x00000000000000000000000000000000ca5cade5'
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const SIGNATURE = `0x${'aB'.repeat(64)}1b`
const NONCE = `0x${'Cd'.repeat(32)}`

const accepted = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '1000',
  asset: USDC,
  payTo: PAY_TO,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
}
const authorization = {
  from: FROM,
  to: PAY_TO,
  value: '1000',
  validAfter: '0',
  validBefore: '1800000000',
  nonce: NONCE,
}
const v2 = { x402Version: 2, accepted, payload: { signature: SIGNATURE, authorization } }
const v1 = {
  x402Version: 1,
  scheme: 'exact',
  network: 'base-sepolia',
  payload: { signature: SIGNATURE, authorization },
}
const permit2Authorization = {
  permitted: { token: USDC, amount: '1000' },
  from: FROM,
  spender: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  nonce: '77',
  deadline: '1800000000',
  witness: { to: PAY_TO, validAfter: '5' },
}
const permit2 = { x402Version: 2, accepted, payload: { signature: SIGNATURE, permit2Authorization } }

const inHeader = (
  value: unknown,
  name: 'payment-signature' | 'x-payment' = 'payment-signature',
): PresentedPayment => ({
  form: 'header',
  name,
  value: new Secret(Buffer.from(JSON.stringify(value)).toString('base64')),
})
const asObject = (value: unknown): PresentedPayment => ({ form: 'object', value: new Secret(value) })
const decode = (value: unknown) => decodePayment(asObject(value))

function refusalOf(run: () => unknown): { message: string; pointer: string } {
  try {
    run()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    expect(thrown.code).toBe('payment_invalid')
    return { message: thrown.message, pointer: thrown.extras.fields![0]!.pointer }
  }
  return { message: 'accepted', pointer: 'accepted' }
}

/** A copy with one member replaced (or removed, by undefined). */
function withMember(value: unknown, path: string, member: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(value)) as Record<string, unknown>
  const keys = path.split('.')
  const last = keys.pop()!
  const parent = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy)
  if (member === undefined) delete parent[last]
  else parent[last] = member
  return copy
}

describe('decoding a payment', () => {
  it('reads an EIP-3009 payment of v2 from its header', () => {
    const value = {
      ...v2,
      resource: { url: 'https://a.example/x', serviceName: 'a' },
      extensions: { bazaar: { info: 1 } },
    }
    const payment = decodePayment(inHeader(value))
    const { kind, wire, presented, ...facts } = payment
    expect(presented.use((came) => came)).toEqual(value)
    expect(facts).toEqual({
      x402Version: 2,
      scheme: 'exact',
      network: 'eip155:84532',
      accepted,
      resourceUrl: 'https://a.example/x',
      extensions: { bazaar: { info: 1 } },
      payer: FROM.toLowerCase(),
      nonce: NONCE.toLowerCase(),
      validBefore: 1_800_000_000_000,
    })
    expect(kind).toEqual({
      type: 'eip3009',
      signature: expect.any(Secret),
      authorization: {
        from: FROM.toLowerCase(),
        to: PAY_TO,
        value: 1000n,
        validAfter: 0n,
        validBefore: 1_800_000_000n,
        nonce: NONCE.toLowerCase(),
      },
    })
    expect(wire.use((sent) => sent)).toEqual({
      ...value,
      payload: {
        signature: SIGNATURE.toLowerCase(),
        authorization: { ...authorization, from: FROM.toLowerCase(), nonce: NONCE.toLowerCase() },
      },
    })
  })

  it('reads a v1 payment from X-PAYMENT, its network under the name that we all use', () => {
    const payment = decodePayment(inHeader(v1, 'x-payment'))
    expect(payment).toMatchObject({
      x402Version: 1,
      network: 'eip155:84532',
      accepted: null,
      resourceUrl: null,
      payer: FROM.toLowerCase(),
    })
    expect(payment.presented.use((came) => came)).toEqual(v1)
    expect(payment.wire.use((sent) => sent)).toEqual({
      ...v1,
      payload: {
        signature: SIGNATURE.toLowerCase(),
        authorization: { ...authorization, from: FROM.toLowerCase(), nonce: NONCE.toLowerCase() },
      },
    })
  })

  it('reads a Permit2 payment as one that nobody checks, and each as one of its own', () => {
    const payment = decode(permit2)
    expect(payment).toMatchObject({ payer: '', validBefore: null, kind: { type: 'foreign' } })
    const other = decode({
      ...permit2,
      payload: { signature: SIGNATURE, permit2Authorization: { ...permit2Authorization, nonce: '78' } },
    })
    expect(other.nonce).not.toBe(payment.nonce)
  })

  it('shows nothing that can move money when it is printed', () => {
    const text = JSON.stringify(decode(v2), (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
    expect(text).not.toContain('abab')
    expect(`${decode(v2).wire}`).toBe('[secret]')
  })

  it(cites('x402:wire:hex', 'takes upper-case hex for the same payment'), () => {
    const shouted = {
      ...v2,
      payload: {
        signature: `0x${SIGNATURE.slice(2).toUpperCase()}`,
        authorization: {
          ...authorization,
          from: `0x${FROM.slice(2).toUpperCase()}`,
          nonce: `0x${NONCE.slice(2).toUpperCase()}`,
        },
      },
    }
    expect(facts(decode(shouted))).toEqual(facts(decode(v2)))
  })

  it('passes on only what it has read', () => {
    const padded = structuredClone(v2) as unknown as Record<string, Record<string, unknown>>
    padded['payload']!['permit'] = '0x00'
    ;(padded['payload']!['authorization'] as Record<string, unknown>)['Value'] = '1'
    padded['note'] = { a: 1 }
    expect(facts(decode(padded))).toEqual(facts(decode(v2)))
  })

  it('keeps "never expires" a number', () => {
    const max = (2n ** 256n - 1n).toString()
    const payment = decode(withMember(v2, 'payload.authorization.validBefore', max))
    expect(payment.validBefore).toBe(8_640_000_000_000_000)
    expect(payment.kind).toMatchObject({ authorization: { validBefore: 2n ** 256n - 1n } })
  })

  it.each<[string, string, unknown]>([
    ['/x402Version', 'x402Version', '2'],
    ['/x402Version', 'x402Version', 3],
    ['/x402Version', 'x402Version', undefined],
    ['/accepted', 'accepted', undefined],
    ['/accepted', 'accepted', []],
    ['/accepted/network', 'accepted.network', 'base-sepolia'],
    ['/accepted/amount', 'accepted.amount', 1000],
    ['/accepted/amount', 'accepted.amount', '1e3'],
    ['/accepted/amount', 'accepted.amount', '-1'],
    ['/accepted/amount', 'accepted.amount', '9'.repeat(79)],
    ['/accepted/maxTimeoutSeconds', 'accepted.maxTimeoutSeconds', '300'],
    ['/accepted/maxTimeoutSeconds', 'accepted.maxTimeoutSeconds', 0],
    ['/accepted/maxTimeoutSeconds', 'accepted.maxTimeoutSeconds', 1.5],
    ['/accepted/payTo', 'accepted.payTo', null],
    ['/payload', 'payload', 'text'],
    ['/payload', 'payload', []],
    ['/payload', 'payload', {}],
    ['/payload', 'payload.authorization', undefined],
    ['/payload', 'payload.permit2Authorization', permit2Authorization],
    ['/payload/authorization', 'payload.authorization', 'text'],
    ['/payload/authorization', 'payload.authorization', null],
    ['/payload/signature', 'payload.signature', undefined],
    ['/payload/signature', 'payload.signature', 'abab'],
    ['/payload/signature', 'payload.signature', '0xabc'],
    ['/payload/signature', 'payload.signature', '0x'],
    ['/payload/signature', 'payload.signature', `0x${'ab'.repeat(2049)}`],
    ['/payload/signature', 'payload.signature', `0X${'ab'.repeat(65)}`],
    ['/payload/authorization/from', 'payload.authorization.from', FROM.slice(0, -1)],
    ['/payload/authorization/from', 'payload.authorization.from', FROM.slice(2)],
    ['/payload/authorization/to', 'payload.authorization.to', `${PAY_TO} `],
    ['/payload/authorization/value', 'payload.authorization.value', 1000],
    ['/payload/authorization/value', 'payload.authorization.value', '0x3e8'],
    ['/payload/authorization/value', 'payload.authorization.value', '1000.0'],
    ['/payload/authorization/value', 'payload.authorization.value', '01000'],
    ['/payload/authorization/value', 'payload.authorization.value', '+1000'],
    ['/payload/authorization/value', 'payload.authorization.value', '-0'],
    ['/payload/authorization/value', 'payload.authorization.value', ''],
    ['/payload/authorization/value', 'payload.authorization.value', '１０００'],
    ['/payload/authorization/value', 'payload.authorization.value', (2n ** 256n).toString()],
    ['/payload/authorization/value', 'payload.authorization.value', '9'.repeat(5000)],
    ['/payload/authorization/validAfter', 'payload.authorization.validAfter', 0],
    ['/payload/authorization/validBefore', 'payload.authorization.validBefore', undefined],
    ['/payload/authorization/nonce', 'payload.authorization.nonce', '0x1234'],
    ['/payload/authorization/nonce', 'payload.authorization.nonce', 7],
    ['/extensions', 'extensions', []],
    ['/resource/url', 'resource', {}],
    ['/resource', 'resource', 'https://a.example/'],
  ])('names %s when %s is wrong (%j)', (pointer, path, member) => {
    expect(refusalOf(() => decode(withMember(v2, path, member))).pointer).toBe(pointer)
  })

  it.each<[string, string, unknown]>([
    ['/payload/signature', 'payload.signature', 'abab'],
    ['/payload', 'payload.authorization', undefined],
    ['/payload', 'payload', 'text'],
    ['/scheme', 'scheme', 7],
  ])('names %s of a v1 payment when %s is wrong (%j)', (pointer, path, member) => {
    expect(refusalOf(() => decode(withMember(v1, path, member))).pointer).toBe(pointer)
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 2],
    ['text', 'payment'],
    ['a list of payments', [v2]],
  ])('refuses %s', (_, value) => {
    expect(refusalOf(() => decode(value))).toEqual({
      message: 'The payment must be a JSON object.',
      pointer: '',
    })
  })

  it.each<unknown>([undefined, 0, 3, '2', null])('refuses the version %j in words', (x402Version) => {
    expect(refusalOf(() => decode(withMember({ ...v1, ...v2 }, 'x402Version', x402Version)))).toEqual({
      message: 'x402Version must be the number 1 or 2.',
      pointer: '/x402Version',
    })
  })

  it.each<[string, unknown]>([
    ['text that no database holds', 'a\0b'],
    ['half of a surrogate pair', '\ud800'],
    ['a number that JSON has not', Number.NaN],
  ])('refuses an object with %s anywhere in it', (_, note) => {
    expect(refusalOf(() => decode({ ...v2, extensions: { note } })).pointer).toBe('')
    expect(refusalOf(() => decode({ ...v1, note })).pointer).toBe('')
  })

  it(cites('x402:wire:version', 'refuses a version in the header of the other'), () => {
    expect(refusalOf(() => decodePayment(inHeader(v1)))).toEqual({
      message:
        'x402Version must be 2 in this header: version 1 is sent in X-PAYMENT, version 2 in Payment-Signature.',
      pointer: '/x402Version',
    })
    expect(refusalOf(() => decodePayment(inHeader(v2, 'x-payment'))).pointer).toBe('/x402Version')
  })

  it('takes either version as an object', () => {
    expect([decode(v1).x402Version, decode(v2).x402Version]).toEqual([1, 2])
  })

  it.each(['base-mainnet', 'eip155:8453', 'toString', '__proto__', 'constructor', ''])(
    'knows no v1 network %j',
    (network) => {
      expect(refusalOf(() => decode({ ...v1, network })).pointer).toBe('/network')
    },
  )

  it('reads networks of v1 that are not served here: the firewall says so', () => {
    expect(decode({ ...v1, network: 'avalanche-fuji' }).network).toBe('eip155:43113')
  })

  it.each<[string, unknown, string]>([
    ['payload.authorization.value', '12x', 'a string of decimal digits, without sign, point or leading zero'],
    ['payload.authorization.value', 1000, 'a string of decimal digits'],
    ['payload.authorization', null, 'an object'],
    ['payload.signature', 7, 'a string'],
    ['payload', [], 'an object'],
    ['accepted.maxTimeoutSeconds', '300', 'a number'],
    ['accepted.network', 'base-sepolia', 'a CAIP-2 network id'],
  ])('says in words that %s is not %j, without quoting it', (member, value, expected) => {
    expect(refusalOf(() => decode(withMember(v2, member, value))).message).toBe(
      `${member} must be ${expected}.`,
    )
  })

  it('says in words which limit is passed, and which network of v1 there is not', () => {
    expect(refusalOf(() => decode(withMember(v2, 'accepted.maxTimeoutSeconds', 0))).message).toBe(
      'accepted.maxTimeoutSeconds is too small: expected number to be >=1.',
    )
    expect(
      refusalOf(() => decode(withMember(v2, 'payload.authorization.value', (2n ** 256n).toString()))).message,
    ).toBe('payload.authorization.value does not fit into 256 bits.')
    expect(refusalOf(() => decode({ ...v1, network: 'base-mainnet' })).message).toBe(
      'network is not a network of x402 version 1.',
    )
  })

  it.each(SIGNED_MEMBERS.eip3009.map(({ path }) => path.join('.')))(
    'demands each member of the list that inspection reads: %s',
    (member) => {
      const without = structuredClone(v2) as Record<string, unknown>
      const path = `payload.${member}`.split('.')
      const last = path.pop() ?? ''
      const holder = path.reduce((inner, name) => inner[name] as Record<string, unknown>, without)
      delete holder[last]
      expect(refusalOf(() => decode(without)).pointer).toBe(`/payload/${member.replaceAll('.', '/')}`)
    },
  )

  it.each<[member: string, value: string]>([
    ['authorization.from', `0x${'0'.repeat(40)}`],
    ['authorization.to', `0x${'0'.repeat(40)}`],
    ['authorization.value', '0'],
    ['authorization.nonce', `0x${'0'.repeat(64)}`],
  ])('takes no %s that has not the form of that list (%s)', (member, value) => {
    expect(refusalOf(() => decode(withMember(v2, `payload.${member}`, value))).pointer).toBe(
      `/payload/${member.replaceAll('.', '/')}`,
    )
  })

  it('leaves the form of a signature to the check that has an answer of x402 for it', () => {
    for (const signature of [`0x${'1'.repeat(130)}`, `0x${'ab'.repeat(63)}`, `0x${'00'.repeat(65)}`])
      expect(refusalOf(() => decode(withMember(v2, 'payload.signature', signature))).message).toBe('accepted')
  })

  it.each<[string, Record<string, unknown>]>([
    ['none', {}],
    ['both', { authorization, permit2Authorization }],
    ['a transaction', { transaction: 'AQ==' }],
  ])('says which signed permission a payment needs where it holds %s', (_, payload) => {
    expect(refusalOf(() => decode({ ...v2, payload: { signature: SIGNATURE, ...payload } }))).toEqual({
      message: 'payload must hold authorization (EIP-3009), and no other permission beside it.',
      pointer: '/payload',
    })
  })

  it(cites('x402:wire:any', 'answers any change of a payment with a payment or payment_invalid'), () => {
    const paths = [
      ...Object.keys(v2),
      ...Object.keys(accepted).map((key) => `accepted.${key}`),
      ...Object.keys(v2.payload).map((key) => `payload.${key}`),
      ...Object.keys(authorization).map((key) => `payload.authorization.${key}`),
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.bigInt().map(String)),
        (path, member) => void refusalOf(() => decode(withMember(v2, path, member))),
      ),
      { numRuns: 600 },
    )
  })
})

/** What it says, however it was presented. */
const facts = ({ wire, kind, presented: _presented, ...rest }: Payment) => ({
  ...rest,
  wire: wire.use((value) => value),
  kind:
    kind.type === 'eip3009'
      ? { authorization: kind.authorization, signature: kind.signature.use((value) => value) }
      : kind,
})

describe('payments that others judge', () => {
  const svm = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
  /** One signature slot, then the message. */
  const transaction = (signature: number, message: string) =>
    Buffer.concat([Buffer.from([1]), Buffer.alloc(64, signature), Buffer.from(message)]).toString('base64')
  const solana = (payload: Record<string, unknown>) =>
    decode({
      x402Version: 2,
      accepted: { ...accepted, network: svm, asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
      payload,
    })

  it('counts a payment of another family once, whatever is written around it', () => {
    const payment = solana({ transaction: transaction(0, 'message') })
    expect(payment).toMatchObject({ kind: { type: 'foreign' }, payer: '', validBefore: null })
    expect(payment.nonce).toMatch(/^[0-9a-f]{64}$/)
    expect(solana({ memo: 1, transaction: transaction(7, 'message') }).nonce).toBe(payment.nonce)
    expect(solana({ transaction: transaction(0, 'another') }).nonce).not.toBe(payment.nonce)
  })

  it('counts a payment of another scheme once, in any order of its members', () => {
    const upto = (payload: Record<string, unknown>) =>
      decode({ x402Version: 2, accepted: { ...accepted, scheme: 'upto' }, payload })
    const payment = upto({ a: { x: 1, y: [1, { p: 1, q: 2 }] }, signature: '0x01' })
    expect(payment.kind.type).toBe('foreign')
    expect(upto({ signature: '0x02', a: { y: [1, { q: 2, p: 1 }], x: 1 } }).nonce).toBe(payment.nonce)
    expect(upto({ a: { x: 1, y: [{ p: 1, q: 2 }, 1] } }).nonce).not.toBe(payment.nonce)
  })

  /** The nonce is kept in the claim store, so that a payment of yesterday has to have the same one tomorrow. */
  const digestOf = (...parts: (string | Buffer)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')

  it('digests the network and what was signed, the members in order of their names', () => {
    const other = { ...accepted, scheme: 'upto' }
    const payload = { signature: '0x01', b: [2, null, { d: 'text', c: true }], a: { z: 1, y: { 0: 'x' } } }
    expect(decode({ x402Version: 2, accepted: other, payload }).nonce).toBe(
      digestOf('eip155:84532\0', '{"a":{"y":{"0":"x"},"z":1},"b":[2,null,{"c":true,"d":"text"}]}'),
    )
    expect(
      decode({ x402Version: 2, accepted: { ...other, network: 'eip155:8453' }, payload }).nonce,
    ).not.toBe(decode({ x402Version: 2, accepted: other, payload }).nonce)
  })

  it.each([0, 1, 2, 127])('digests the message behind %i signatures of a Solana transaction', (count) => {
    const signed = Buffer.concat([Buffer.from([count]), Buffer.alloc(64 * count, 7), Buffer.from('message')])
    expect(solana({ transaction: signed.toString('base64') }).nonce).toBe(digestOf(`${svm}\0`, 'message'))
  })

  it('digests all of a Solana transaction that has more signatures than one byte counts', () => {
    const signed = Buffer.concat([Buffer.from([0x80]), Buffer.from('message')])
    expect(solana({ transaction: signed.toString('base64') }).nonce).toBe(digestOf(`${svm}\0`, signed))
  })

  it('digests every member where another family calls one of them transaction', () => {
    const aptos = (payload: Record<string, unknown>) =>
      decode({ x402Version: 2, accepted: { ...accepted, network: 'aptos:1' }, payload }).nonce
    const text = transaction(0, 'message')
    expect(aptos({ transaction: text, memo: 1 })).toBe(
      digestOf('aptos:1\0', JSON.stringify({ memo: 1, transaction: text })),
    )
  })

  it('survives a transaction that is none', () => {
    for (const transactionText of ['', '!', 'gA==', 'AQ=='])
      expect(solana({ transaction: transactionText }).nonce).toMatch(/^[0-9a-f]{64}$/)
    expect(solana({ transaction: 7 }).nonce).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('requests to the facilitator', () => {
  const requirementsV1 = {
    scheme: 'exact',
    network: 'base-sepolia',
    maxAmountRequired: '1000',
    resource: 'https://seller.example/paid',
    description: '',
    mimeType: 'application/json',
    payTo: PAY_TO,
    maxTimeoutSeconds: 60,
    asset: USDC.toLowerCase(),
    outputSchema: null,
    extra: { name: 'USDC', version: '2' },
  }
  const request = { x402Version: 2, paymentPayload: v2, paymentRequirements: accepted }

  it('reads v2', () => {
    const { payment, requirements, resourceUrl } = decodeFacilitatorRequest(request, networks)
    expect([payment.x402Version, resourceUrl]).toEqual([2, null])
    expect(requirements).toEqual(accepted)
  })

  it('reads v1 as the same requirement', () => {
    const body = { x402Version: 1, paymentPayload: v1, paymentRequirements: requirementsV1 }
    const { payment, requirements, resourceUrl } = decodeFacilitatorRequest(body, networks)
    expect([payment.x402Version, resourceUrl]).toEqual([1, 'https://seller.example/paid'])
    expect(requirements).toEqual({ ...accepted, maxTimeoutSeconds: 60 })
  })

  it.each([null, undefined])('reads v1 whose seller says nothing more (%j)', (extra) => {
    const body = { paymentPayload: v1, paymentRequirements: withMember(requirementsV1, 'extra', extra) }
    const { extra: _, ...bare } = accepted
    const { requirements } = decodeFacilitatorRequest(body, networks)
    expect(requirements).toStrictEqual({ ...bare, maxTimeoutSeconds: 60 })
  })

  it('leaves the asset of a network that is not served here as it came', () => {
    const foreign = { ...accepted, network: 'eip155:1', asset: FROM }
    const body = { paymentPayload: v2, paymentRequirements: foreign }
    expect(decodeFacilitatorRequest(body, networks).requirements).toStrictEqual(foreign)
  })

  it('refuses a requirement with text that no database holds', () => {
    const body = { ...request, paymentRequirements: { ...accepted, extra: { note: 'a\0b' } } }
    expect(refusalOf(() => decodeFacilitatorRequest(body, networks)).pointer).toBe('')
  })

  it('says in words which version and which member of a requirement is wrong', () => {
    expect(refusalOf(() => decodeFacilitatorRequest({ ...request, x402Version: 1 }, networks)).message).toBe(
      'x402Version is another than that of the payment.',
    )
    const body = { paymentPayload: v1, paymentRequirements: { ...requirementsV1, extra: 7 } }
    expect(refusalOf(() => decodeFacilitatorRequest(body, networks)).message).toBe(
      'paymentRequirements.extra must be an object.',
    )
  })

  it('writes the asset as it is pinned, and leaves another alone', () => {
    const assetOf = (asset: string) =>
      decodeFacilitatorRequest({ ...request, paymentRequirements: { ...accepted, asset: asset } }, networks)
        .requirements.asset
    expect(assetOf(`0x${USDC.slice(2).toUpperCase()}`)).toBe(USDC)
    expect(assetOf(FROM.toLowerCase())).toBe(FROM.toLowerCase())
  })

  it.each<[string, unknown]>([
    ['', null],
    ['', [request]],
    ['/paymentPayload', { paymentRequirements: accepted }],
    ['/paymentPayload', { ...request, paymentPayload: 'e30=' }],
    ['/paymentRequirements', { paymentPayload: v2 }],
    ['/paymentRequirements', { ...request, paymentRequirements: [accepted] }],
    ['/paymentRequirements/amount', withMember(request, 'paymentRequirements.amount', 1000)],
    ['/paymentRequirements/scheme', withMember(request, 'paymentRequirements.scheme', undefined)],
    ['/paymentRequirements/network', withMember(request, 'paymentRequirements.network', 'base')],
    ['/paymentPayload/x402Version', withMember(request, 'paymentPayload.x402Version', undefined)],
    [
      '/paymentPayload/payload/authorization/value',
      withMember(request, 'paymentPayload.payload.authorization.value', '1.5'),
    ],
    ['/x402Version', { ...request, x402Version: 3 }],
    ['/x402Version', { ...request, x402Version: 1 }],
    [
      '/paymentPayload/network',
      withMember({ ...request, x402Version: 1, paymentPayload: v1 }, 'paymentPayload.network', 'x'),
    ],
    [
      '/paymentPayload/payload',
      withMember({ ...request, x402Version: 1, paymentPayload: v1 }, 'paymentPayload.payload', {}),
    ],
    ['/paymentRequirements/maxAmountRequired', { paymentPayload: v1, paymentRequirements: accepted }],
    [
      '/paymentRequirements/network',
      { paymentPayload: v1, paymentRequirements: { ...requirementsV1, network: 'eip155:84532' } },
    ],
  ])('names %s when it is wrong', (pointer, body) => {
    expect(refusalOf(() => decodeFacilitatorRequest(body, networks)).pointer).toBe(pointer)
  })

  it('answers any body with a request or payment_invalid', () => {
    const part = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(v1, v2, permit2, accepted, requirementsV1))
    const body = fc.oneof(
      fc.anything(),
      fc.record({
        x402Version: fc.constantFrom<unknown>(1, 2, '2', null),
        paymentPayload: part,
        paymentRequirements: part,
      }),
    )
    let read = 0
    fc.assert(
      fc.property(body, (value) => {
        if (refusalOf(() => decodeFacilitatorRequest(value, networks)).message === 'accepted') read++
      }),
      {
        numRuns: 1000,
        // Among a thousand random bodies there may be no good one.
        examples: [[{ x402Version: 2, paymentPayload: v2, paymentRequirements: accepted }]],
      },
    )
    expect(read).toBeGreaterThan(0)
  })

  it('does without the version of the request', () => {
    const { x402Version: _, ...body } = request
    expect(decodeFacilitatorRequest(body, networks).payment.payer).toBe(FROM.toLowerCase())
  })
})
