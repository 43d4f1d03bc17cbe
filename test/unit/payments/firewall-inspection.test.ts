// The payment firewall and the inspection of transactions read the same payment: what one refuses because two statements differ,
// the other reports as a mismatch of that binding, and neither says anything of the kind about a payment the other passes.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import type { Binding } from '../../../src/commerce/ports.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import {
  type Case,
  checkAccepted,
  checkAmount,
  checkAsset,
  checkNetwork,
  checkPayTo,
  checkResource,
  checkScheme,
  toPaid,
} from '../../../src/payments/firewall.ts'
import { createNetworks } from '../../../src/core/networks.ts'
import { loadSecp256k1, type Secp256k1 } from '../../../src/payments/secp256k1.ts'
import { decodeFacilitatorRequest, decodePayment } from '../../../src/payments/wire.ts'
import { Secret } from '../../../src/lib/secret.ts'

const networks = createNetworks([8453, 84532])
const NOW = 1_800_000_000
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const PAY_TO = '0x00000000000000000000000000000000ca5cade5'
const STRANGER = `0x${'ab'.repeat(20)}`
const PAYER = '0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f'

let secp256k1: Secp256k1
beforeAll(async () => {
  secp256k1 = await loadSecp256k1()
})

type Json = Record<string, unknown>

const v2Terms = () => ({
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '1000',
  asset: USDC,
  payTo: PAY_TO,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
})
const v1Terms = () => {
  const { amount, ...terms } = v2Terms()
  const text = { resource: 'https://shop.example/tea', description: '', mimeType: '' }
  return { ...terms, ...text, network: 'base-sepolia', maxAmountRequired: amount }
}
const eip3009 = () => ({
  signature: `0x${'11'.repeat(65)}`,
  authorization: {
    from: PAYER,
    to: PAY_TO,
    value: '1000',
    validAfter: '0',
    validBefore: String(NOW + 300),
    nonce: `0x${'cd'.repeat(32)}`,
  },
})
const permit2 = () => ({
  signature: `0x${'11'.repeat(65)}`,
  permit2Authorization: {
    permitted: { token: USDC, amount: '1000' },
    from: PAYER,
    spender: '0x402085c248eea27d92e8b30b2c58ed07f9e20001',
    nonce: '7',
    deadline: String(NOW + 300),
    witness: { to: PAY_TO, validAfter: '0' },
  },
})

const request = (version: 1 | 2, payload: Json): Json =>
  version === 2
    ? {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: v2Terms(), payload },
        paymentRequirements: v2Terms(),
      }
    : {
        x402Version: 1,
        paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload },
        paymentRequirements: v1Terms(),
      }

const TERMS: readonly (readonly [member: string, values: readonly unknown[]])[] = [
  ['scheme', ['exact', 'upto', 'EXACT', '', 1]],
  [
    'network',
    ['eip155:84532', 'eip155:8453', 'base-sepolia', 'base', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'x'],
  ],
  ['amount', ['1000', '1001', '999', '0', '01000', '1e3', 1000]],
  ['maxAmountRequired', ['1000', '1001', '0', 1000]],
  ['asset', [USDC, USDC.toLowerCase(), STRANGER, PAY_TO, 'USDC']],
  ['payTo', [PAY_TO, PAY_TO.toUpperCase().replace('0X', '0x'), STRANGER, PAYER, USDC, 'seller.eth']],
  ['maxTimeoutSeconds', [300, 301, 5, '300']],
  [
    'extra',
    [
      {},
      { name: 'USDC', version: '2', more: 1 },
      { name: 'USD Coin', version: '2' },
      { name: 'USDC', version: '1' },
      { name: '', version: '2' },
      null,
    ],
  ],
]
const ADDRESSES = [PAY_TO, PAY_TO.toUpperCase().replace('0X', '0x'), STRANGER, PAYER]
const AMOUNTS = ['1000', '1001', '999', '0', '0x3e8']
const SIGNED: readonly (readonly [path: string, values: readonly unknown[]])[] = [
  ['paymentPayload.payload.authorization.to', ADDRESSES],
  ['paymentPayload.payload.authorization.value', AMOUNTS],
  ['paymentPayload.payload.permit2Authorization.witness.to', ADDRESSES],
  ['paymentPayload.payload.permit2Authorization.permitted.amount', AMOUNTS],
  ['paymentPayload.payload.permit2Authorization.permitted.token', [USDC, USDC.toLowerCase(), STRANGER]],
  ['paymentPayload.payload.permit2Authorization.spender', [STRANGER]],
  ['paymentPayload.payload.permit2Authorization', [{}]],
  ['paymentPayload.x402Version', [1, 2, 3, '2']],
  ['x402Version', [1, 2, undefined]],
  // Members that belong to the other version mean nothing in this one.
  ['paymentPayload.accepted', [{ ...v2Terms(), payTo: STRANGER, scheme: 'upto' }, undefined]],
]
const PLACES = ['paymentRequirements', 'paymentPayload.accepted', 'paymentPayload']

interface Change {
  readonly path: string
  readonly value: unknown
}
const oneOf = ([path, values]: readonly [string, readonly unknown[]]) =>
  fc.constantFrom(...values).map((value): Change => ({ path, value }))
const changes = fc.array(
  fc.oneof(
    fc
      .tuple(fc.constantFrom(...PLACES), fc.oneof(...TERMS.map(oneOf)))
      .map(([place, { path, value }]): Change => ({ path: `${place}.${path}`, value })),
    fc.oneof(...SIGNED.map(oneOf)),
  ),
  { maxLength: 4 },
)

/** Only where the way to it is there; undefined takes away. */
function apply(body: Json, { path, value }: Change): void {
  const keys = path.split('.')
  const last = keys.pop()!
  let at: unknown = body
  for (const key of keys) at = (at as Json | undefined)?.[key]
  if (typeof at !== 'object' || at === null) return
  if (value === undefined) delete (at as Json)[last]
  else (at as Json)[last] = value
}

const STATEMENTS = ['scheme', 'network', 'domain', 'pay_to', 'amount', 'accepted'] as const
type Statement = (typeof STATEMENTS)[number]
type Said = Readonly<Record<Statement, 'differs' | 'agrees' | 'not compared'>>

/**
 * What the firewall says of each statement. Not compared is
 * - what it refused on its own account before it came to compare: an asset that is not pinned, a network that is not served, a
 *   payTo that nobody should be paid at, no signing domain at all, an amount of zero;
 * - what stands in a payment that it refuses unread (Permit2) or leaves to an upstream: another scheme than `exact`, another
 *   family of chains;
 * - the asset: an authorization names none, its domain does.
 */
function askFirewall(body: Json): Said {
  const { payment, requirements } = decodeFacilitatorRequest(body, networks)
  const facts: Case = {
    payment,
    requirements,
    networks,
    resourceUrl: undefined,
    isOurs: false,
    workSeconds: 0,
    nowSeconds: BigInt(NOW),
    keccak256: secp256k1.keccak256,
  }
  const paid = toPaid(payment)
  const reasonOf = (check: typeof checkScheme): string => {
    const verdict = check(facts, paid)
    return verdict.ok ? '' : verdict.reason
  }
  const say = (reason: string, differing: RegExp, passed: 'agrees' | 'not compared' = 'agrees') =>
    reason === '' ? passed : differing.test(reason) ? ('differs' as const) : ('not compared' as const)
  const isForeign = payment.kind.type === 'foreign'
  const looked = isForeign ? 'not compared' : 'agrees'
  const isServed = networks.find(payment.network) !== undefined
  const asset = reasonOf(checkAsset)
  return {
    scheme: say(reasonOf(checkScheme), /scheme/),
    network: say(reasonOf(checkNetwork), /network_mismatch/),
    domain: isServed ? say(asset, /token_(?:name|version)_mismatch/) : 'not compared',
    pay_to: say(reasonOf(checkPayTo), /recipient_mismatch/, looked),
    amount: say(reasonOf(checkAmount), /value_mismatch/, looked),
    accepted:
      payment.accepted === null ? 'not compared' : reasonOf(checkAccepted) === '' ? 'agrees' : 'differs',
  }
}

const REQUIRED = '/body/paymentRequirements'

/** The bindings of inspection that hold the payment against the requirement beside it. */
function askInspection(body: Json): ReadonlySet<Statement> {
  const message = readMessage({ target: 'https://facilitator.example/verify', method: 'POST', body })
  const { detection, bindings } = analyse(message)
  expect([detection.protocol, detection.stage, detection.transport]).toEqual(['x402', 'payment', 'http'])
  const found = new Set<Statement>()
  for (const binding of bindings) {
    const statement = binding.verdict === 'mismatch' ? statementOf(binding) : undefined
    if (statement !== undefined) found.add(statement)
    // Both are parts of what was accepted.
    if (statement === 'scheme' || statement === 'network') found.add('accepted')
  }
  return found
}

function statementOf({ kind, at, with: other }: Binding): Statement | undefined {
  if (kind === 'offer' && /^\/body\/paymentRequirements\/extra\/(?:name|version)$/.test(at)) return 'domain'
  if (!other.startsWith(REQUIRED)) return undefined
  const name = other.slice(REQUIRED.length + 1)
  if (kind === 'payee') return 'pay_to'
  if (kind === 'amount') return name === 'asset' ? undefined : 'amount'
  if (kind !== 'offer') return undefined
  return name === 'scheme' || name === 'network' ? name : 'accepted'
}

describe('the firewall and inspection', () => {
  it('refuse and report the same differences, whatever is changed in a payment', () => {
    const seen = new Map<string, number>()
    const count = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1)
    fc.assert(
      fc.property(
        fc.constantFrom(1 as const, 2 as const),
        fc.constantFrom(eip3009, permit2),
        changes,
        (version, sign, all) => {
          const body = request(version, sign())
          for (const change of all) apply(body, change)
          let said: Said
          try {
            said = askFirewall(body)
          } catch (thrown) {
            // Of what has not the form of a payment nothing is compared; inspection reads on as far as it can.
            if (!(thrown instanceof GatewayError) || thrown.code !== 'payment_invalid') throw thrown
            count('malformed')
            return
          }
          const reported = askInspection(body)
          for (const statement of STATEMENTS) {
            count(`${statement} ${said[statement]}`)
            if (said[statement] !== 'not compared')
              expect([statement, reported.has(statement)]).toEqual([statement, said[statement] === 'differs'])
          }
        },
      ),
      { numRuns: 8000 },
    )
    // Each of them has been on both sides, often.
    for (const statement of STATEMENTS)
      for (const is of ['differs', 'agrees'])
        expect([statement, is, (seen.get(`${statement} ${is}`) ?? 0) > 20]).toEqual([statement, is, true])
    expect(seen.get('malformed')).toBeLessThan(6000)
  })

  it('take the same payment for a payment for this resource', () => {
    const hosts = [
      'https://shop.example',
      'https://SHOP.example:443',
      'http://shop.example',
      'https://shop.example:8443',
      'https://user@shop.example',
      'https://other.example',
    ]
    const paths = ['', '/', '/tea', '/tea/', '/tea?cup=1', '/tea?cup=2', '/tea#leaf', '/%74ea']
    const urls = hosts.flatMap((host) => paths.map((path) => `${host}${path}`))
    const seen = { match: 0, other: 0 }
    for (const target of urls)
      for (const named of [...urls, 'mcp://tool/tea', 'tea', 'urn:tea']) {
        const value = { x402Version: 2, resource: { url: named }, accepted: v2Terms(), payload: eip3009() }
        const payment = decodePayment({ form: 'object', value: new Secret(value) })
        const facts = { payment, resourceUrl: target } as Case
        const message = readMessage({
          target,
          headers: { 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(value)).toString('base64') },
        })
        const verdicts = analyse(message)
          .bindings.filter(({ kind }) => kind === 'resource')
          .map(({ verdict }) => verdict)
        const isTaken = checkResource(facts, toPaid(payment)).ok
        seen[isTaken ? 'match' : 'other']++
        expect([target, named, verdicts.map((verdict) => verdict === 'match')]).toEqual([
          target,
          named,
          [isTaken],
        ])
      }
    expect(seen.match).toBeGreaterThan(urls.length)
    expect(seen.other).toBeGreaterThan(urls.length)
  })
})
