import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import type { Binding } from '../../../src/commerce/ports.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, wire, type Change, type Plain, type SampleSource } from '../../support/commerce.ts'

function bindingsOf(source: SampleSource): readonly Binding[] {
  const message = readMessage(wire(source))
  return analyse(message).bindings
}
const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const remove = (at: string): Change => ({ op: 'remove', at })
const verdicts = (bindings: readonly Binding[], kind: Binding['kind']) =>
  bindings.filter((one) => one.kind === kind).map(({ verdict }) => verdict)

const PAID = '/headers/PAYMENT-SIGNATURE/$base64'
const SIGNED = `${PAID}/payload/authorization`
const ASKED = '/headers/PAYMENT-REQUIRED/$base64'
const OFFER = `${ASKED}/extensions/offer-receipt/info/offers/0/signature/$offer`
const MPP = '/headers/Authorization/$payment/challenge'
const CHAIN = '/body/payment_mandate_chain/$chain'
const STRANGER = '0x27b1fdb04752bbc536007a920d24acb045561c26'

describe('bindings', () => {
  it.each([
    ...Object.entries(SAMPLES),
    ...Object.entries(KINDS).map(([name, { source }]) => [name, source] as const),
  ])('finds nothing that contradicts in %s', (_name, source) => {
    expect(bindingsOf(source).filter(({ verdict }) => verdict === 'mismatch')).toEqual([])
  })

  it.each<[string, string, Change[], Binding['kind'], Binding['verdict'][]]>([
    ['x402-http', 'is sound', [], 'payee', ['match']],
    ['x402-http', 'is sound', [], 'amount', ['match']],
    ['x402-http', 'is sound', [], 'resource', ['match']],
    ['x402-http', 'is sound', [], 'digest', ['match']],
    ['x402-http', 'is sound', [], 'offer', ['match']],
    ['x402-http', 'is sound', [], 'scheme_https', ['match']],
    ['x402-http', 'pays another in the signature', [set(`${SIGNED}/to`, STRANGER)], 'payee', ['mismatch']],
    [
      'x402-http',
      'writes the payee in another case',
      [set(`${SIGNED}/to`, '0x52908400098527886e0f7030069857d2e4169ee7')],
      'payee',
      ['match'],
    ],
    ['x402-http', 'signs more', [set(`${SIGNED}/value`, '25001')], 'amount', ['mismatch']],
    ['x402-http', 'signs less', [set(`${SIGNED}/value`, '24999')], 'amount', ['mismatch']],
    ['x402-http', 'signs a fraction', [set(`${SIGNED}/value`, '25000.0')], 'amount', ['mismatch']],
    [
      'x402-http',
      'signs more under upto',
      [set(`${SIGNED}/value`, '25001'), set(`${PAID}/accepted/scheme`, 'upto')],
      'amount',
      ['match'],
    ],
    [
      'x402-http',
      'signs less under upto',
      [set(`${SIGNED}/value`, '24999'), set(`${PAID}/accepted/scheme`, 'upto')],
      'amount',
      ['mismatch'],
    ],
    [
      'x402-http',
      'signs more under a scheme of its own',
      [set(`${SIGNED}/value`, '25001'), set(`${PAID}/accepted/scheme`, 'auth-capture')],
      'amount',
      ['partial'],
    ],
    [
      'x402-http',
      'is for another path',
      [set('/target', 'https://shop.example/other')],
      'resource',
      ['mismatch'],
    ],
    [
      'x402-http',
      'is for another query',
      [set('/target', 'https://shop.example/reports?year=2026')],
      'resource',
      ['partial'],
    ],
    [
      'x402-http',
      'goes to another host',
      [set('/target', 'https://other.example/reports'), remove('/headers/Host')],
      'host',
      ['mismatch'],
    ],
    [
      'x402-http',
      'goes to another port',
      [set('/target', 'https://shop.example:8443/reports'), remove('/headers/Host')],
      'resource',
      ['mismatch'],
    ],
    ['x402-http', 'names another Host', [set('/headers/Host', 'other.example')], 'host', ['mismatch']],
    ['x402-http', 'names the default port', [set('/headers/Host', 'SHOP.example:443')], 'host', ['match']],
    [
      'x402-http',
      'is plain http',
      [set('/target', 'http://shop.example/reports')],
      'scheme_https',
      ['mismatch'],
    ],
    ['x402-http', 'is plain http', [set('/target', 'http://shop.example/reports')], 'resource', ['partial']],
    [
      'x402-http',
      'pays for plain http',
      [set(`${PAID}/resource/url`, 'http://shop.example/reports')],
      'scheme_https',
      ['match', 'mismatch'],
    ],
    ['x402-http', 'has another body', [set('/body', { $text: { query: 'coffee' } })], 'digest', ['mismatch']],
    [
      'x402-http',
      'has another body as an object',
      [set('/body', { query: 'coffee' })],
      'digest',
      ['unverifiable'],
    ],
    ['x402-http', 'has the body as an object', [set('/body', { query: 'tea prices' })], 'digest', ['match']],
    [
      'x402-http',
      'has an unknown algorithm',
      [set('/headers/Content-Digest', 'md5=:AAAA:')],
      'digest',
      ['unverifiable'],
    ],
    [
      'x402-http',
      'has a digest of no length',
      [set('/headers/Content-Digest', 'sha-256=:AAAA:')],
      'digest',
      ['mismatch'],
    ],
    [
      'x402-http',
      'was offered at another price',
      [set(`${PAID}/accepted/amount`, '1'), set(`${SIGNED}/value`, '1')],
      'offer',
      ['mismatch'],
    ],
    ['x402-permit2', 'is sound', [], 'payee', ['match']],
    [
      'x402-permit2',
      'spends another token',
      [set(`${PAID}/payload/permit2Authorization/permitted/token`, STRANGER)],
      'amount',
      ['match', 'mismatch'],
    ],
    [
      'x402-permit2',
      'pays another',
      [set(`${PAID}/payload/permit2Authorization/witness/to`, STRANGER)],
      'payee',
      ['mismatch'],
    ],
    ['x402-mcp', 'is sound', [], 'resource', ['match']],
    ['x402-mcp', 'calls another tool', [set('/body/params/name', 'drain')], 'resource', ['mismatch']],
    [
      'x402-a2a',
      'pays for what the agent does elsewhere',
      [set('/body/params/message/metadata/x402.payment.payload/resource/url', 'https://other.example/x')],
      'resource',
      ['unverifiable'],
    ],
    ['x402-challenge', 'is sound', [], 'offer', ['match']],
    [
      'x402-challenge',
      'pays another than was offered',
      [set(`${ASKED}/accepts/0/payTo`, STRANGER)],
      'offer',
      ['mismatch'],
    ],
    [
      'x402-challenge',
      'offers another network',
      [set(`${OFFER}/network`, 'eip155:1')],
      'offer',
      ['mismatch'],
    ],
    [
      'x402-challenge',
      'offers with a v1 name of the network',
      [set(`${OFFER}/network`, 'base-sepolia')],
      'offer',
      ['match'],
    ],
    [
      'x402-challenge',
      'offers what is elsewhere',
      [set(`${OFFER}/resourceUrl`, 'https://other.example/reports')],
      'offer',
      ['mismatch'],
    ],
    [
      'x402-challenge',
      'offers what is not in accepts',
      [set(`${ASKED}/extensions/offer-receipt/info/offers/0/acceptIndex`, 4)],
      'offer',
      ['mismatch'],
    ],
    [
      'x402-challenge',
      'offers what cannot be read',
      [set(`${ASKED}/extensions/offer-receipt/info/offers/0/signature`, 'a.b.c')],
      'offer',
      ['unverifiable'],
    ],
    ['mpp-post', 'is sound', [], 'host', ['match', 'match']],
    ['mpp-post', 'is sound', [], 'digest', ['match']],
    ['mpp-post', 'is sound', [], 'constraint', ['match']],
    [
      'mpp-post',
      'was challenged by another host',
      [set(`${MPP}/realm`, 'other.example')],
      'host',
      ['match', 'mismatch'],
    ],
    [
      'mpp-post',
      'was challenged by a host that only ends alike',
      [set(`${MPP}/realm`, 'hop.example')],
      'host',
      ['match', 'mismatch'],
    ],
    [
      'mpp-post',
      'was challenged by the domain',
      [set('/target', 'https://api.shop.example/orders'), remove('/headers/Host')],
      'host',
      ['partial'],
    ],
    [
      'mpp-post',
      'was challenged under a name',
      [set(`${MPP}/realm`, 'The tea shop')],
      'host',
      ['match', 'unverifiable'],
    ],
    ['mpp-post', 'has another body', [set('/body', '{"tea":"sencha","grams":2000}')], 'digest', ['mismatch']],
    [
      'mpp-post',
      'writes the digest without colons',
      [set(`${MPP}/digest`, 'sha-256=n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg=')],
      'digest',
      ['mismatch'],
    ],
    [
      'mpp-post',
      'gives all of it away',
      [set(`${MPP}/request/$base64url/methodDetails/splits/0/amount`, '750000')],
      'constraint',
      ['mismatch'],
    ],
    [
      'mpp-post',
      'splits it eleven ways',
      [
        set(
          `${MPP}/request/$base64url/methodDetails/splits`,
          Array.from({ length: 11 }, () => ({ amount: '1', recipient: STRANGER })),
        ),
      ],
      'constraint',
      ['mismatch'],
    ],
    [
      'mpp-post',
      'was challenged by a name without a domain',
      [
        set('/target', 'https://shop.localhost/orders'),
        set(`${MPP}/realm`, 'localhost'),
        remove('/headers/Host'),
      ],
      'host',
      ['mismatch'],
    ],
    [
      'mpp-post',
      'splits a fraction',
      [set(`${MPP}/request/$base64url/methodDetails/splits/0/amount`, '0.5')],
      'constraint',
      ['mismatch'],
    ],
    ['ap2-payment', 'is sound', [], 'constraint', ['match', 'match']],
    ['ap2-payment', 'came without its checkout', [], 'hash', ['unverifiable', 'match', 'match', 'match']],
    [
      'ap2-payment',
      'names another open mandate',
      [set(`${CHAIN}/token/sd_hash`, 'A'.repeat(43))],
      'hash',
      ['unverifiable', 'mismatch', 'match', 'match'],
    ],
    [
      'ap2-payment',
      'is over the range',
      [set(`${CHAIN}/mandate/payment_amount/amount`, 5001)],
      'constraint',
      ['mismatch', 'match'],
    ],
    [
      'ap2-payment',
      'is at the end of the range',
      [set(`${CHAIN}/mandate/payment_amount/amount`, 5000)],
      'constraint',
      ['match', 'match'],
    ],
    [
      'ap2-payment',
      'is under the range',
      [set(`${CHAIN}/open/constraints/0/min`, 1891)],
      'constraint',
      ['mismatch', 'match'],
    ],
    [
      'ap2-payment',
      'is in another currency',
      [set(`${CHAIN}/mandate/payment_amount/currency`, 'USD')],
      'constraint',
      ['mismatch', 'match'],
    ],
    [
      'ap2-payment',
      'pays another',
      [set(`${CHAIN}/mandate/payee`, { id: 'shop_82', name: 'Tea shop' })],
      'constraint',
      ['match', 'mismatch'],
    ],
    [
      'ap2-payment',
      'pays another under the same id',
      [set(`${CHAIN}/mandate/payee`, { id: 'shop_81', website: 'https://other.example' })],
      'constraint',
      ['match', 'mismatch'],
    ],
    [
      'ap2-payment',
      'discloses nobody that may be paid',
      [remove(`${CHAIN}/payee`)],
      'constraint',
      ['match', 'mismatch'],
    ],
    [
      'ap2-payment',
      'is meant for another host',
      [set(`${CHAIN}/token/aud`, 'https://other.example')],
      'host',
      ['mismatch'],
    ],
    [
      'ap2-payment',
      'is meant for this host',
      [set(`${CHAIN}/token/aud`, 'https://wallet.example/x')],
      'host',
      ['match'],
    ],
    ['ap2-checkout', 'is sound', [], 'hash', ['match', 'match', 'match', 'match']],
    [
      'ap2-checkout',
      'is for another checkout',
      [set('/body/checkout_mandate/$chain/mandate/checkout_hash', 'B'.repeat(43))],
      'hash',
      ['mismatch', 'match', 'match', 'match'],
    ],
    ['ucp-complete', 'is sound', [], 'digest', ['match']],
    ['ucp-complete', 'has another body', [set('/body', '{}')], 'digest', ['mismatch']],
    [
      'ucp-complete',
      'is about another checkout in its body',
      [set('/body', { id: 'chk_other' })],
      'resource',
      ['mismatch'],
    ],
    ['mcp-2026', 'is sound', [], 'header_body', ['match', 'match', 'match']],
    [
      'mcp-2026',
      'names another tool in its header',
      [set('/headers/Mcp-Name', 'drain')],
      'header_body',
      ['match', 'mismatch', 'match'],
    ],
    [
      'mcp-2026',
      'names its tool in base64',
      [set('/headers/Mcp-Name', '=?base64?YnJldw==?=')],
      'header_body',
      ['match', 'match', 'match'],
    ],
    [
      'mcp-2026',
      'names another method in its header',
      [set('/headers/Mcp-Method', 'tools/list')],
      'header_body',
      ['mismatch', 'match', 'match'],
    ],
    [
      'mcp-2026',
      'has a name in its header alone',
      [remove('/body/params/name')],
      'header_body',
      ['match', 'mismatch', 'match'],
    ],
    ['mcp-2025', 'is sound', [], 'header_body', []],
  ])('%s, which %s (%#)', (name, _what, changes, kind, expected) => {
    expect(verdicts(bindingsOf(change(SAMPLES[name]!, changes)), kind)).toEqual(expected)
  })

  it('takes both spellings of a digest for the same', () => {
    const digest = (text: string) =>
      verdicts(bindingsOf(change(SAMPLES['mpp-post']!, [set(`${MPP}/digest`, text)])), 'digest')
    const { $digest } = { $digest: '{"tea":"sencha","grams":200}' }
    const [, spec] = /^sha-256=:(.+):$/.exec(
      wire({ target: 'x', headers: { d: { $digest } } }).headers!['d'] as string,
    )!
    expect(digest(`sha-256=:${spec!}:`)).toEqual(['match'])
    expect(digest(`sha-256=${spec!}`)).toEqual(['match'])
    expect(digest(`SHA-256=${spec!}`)).toEqual(['match'])
    expect(digest('sha-256')).toEqual(['mismatch'])
  })

  it('holds a payment against the requirement that a facilitator is sent with it', () => {
    const { source } = KINDS['x402 payment as a facilitator is sent it']!
    const changed = (at: string, value: Plain) => bindingsOf(change(source, [set(at, value)]))
    expect(verdicts(bindingsOf(source), 'payee')).toEqual(['match'])
    expect(
      verdicts(changed('/body/paymentRequirements', { payTo: 'somebody', amount: '25000' }), 'payee'),
    ).toEqual(['mismatch'])
    expect(
      verdicts(changed('/body/paymentRequirements', { payTo: 'somebody', amount: '1' }), 'amount'),
    ).toEqual(['mismatch'])
  })

  it.each<[string, Plain, string | undefined]>([
    ['nothing', {}, undefined],
    ['the scheme', { scheme: 'upto' }, 'scheme'],
    ['the network', { network: 'eip155:8453' }, 'network'],
    ['the timeout', { maxTimeoutSeconds: 61 }, 'maxTimeoutSeconds'],
    ['a member of extra that was not accepted', { extra: { fee: '1' } }, 'extra'],
  ])(
    'says where a payment takes another requirement than its facilitator is sent: %s',
    (_what, terms, name) => {
      const { source } = KINDS['x402 payment as a facilitator is sent it']!
      const { paymentPayload } = source.body as { paymentPayload: { accepted: { [name: string]: Plain } } }
      const found = bindingsOf(
        change(source, [
          set('/body/paymentRequirements', { ...paymentPayload.accepted, ...(terms as object) }),
        ]),
      ).filter(({ kind }) => kind === 'offer')
      expect(found.map(({ verdict, with: other }) => [verdict, other])).toEqual(
        name === undefined
          ? [['match', '/body/paymentRequirements']]
          : [['mismatch', `/body/paymentRequirements/${name}`]],
      )
    },
  )

  it('says of a token that is known when the signing domain is not its own', () => {
    const accepted = (extra: Plain) =>
      bindingsOf(change(SAMPLES['x402-http']!, [set(`${PAID}/accepted/extra`, extra)]))
    const offers = (extra: Plain) =>
      accepted(extra).flatMap(({ kind, verdict, at }) =>
        kind === 'offer' && verdict === 'mismatch' ? [at] : [],
      )
    expect(offers({ name: 'USDC', version: '2' })).toEqual([])
    expect(offers({ name: 'USD Coin', version: '2' })).toEqual([
      '/headers/PAYMENT-SIGNATURE#/accepted/extra/name',
    ])
    expect(offers({ name: 'USDC', version: '1' })).toEqual([
      '/headers/PAYMENT-SIGNATURE#/accepted/extra/version',
    ])
    expect(offers({})).toEqual([])
  })

  it('recomputes the checkout of a payment where the checkout mandate came along, and the mandate it refers to', () => {
    const cart = (SAMPLES['ap2-checkout']!.body as { [name: string]: Plain })['checkout_mandate']!
    const both = change(SAMPLES['ap2-payment']!, [set('/body/checkout_mandate', cart)])
    expect(verdicts(bindingsOf(both), 'hash')).not.toContain('unverifiable')
    expect(verdicts(bindingsOf(both), 'hash')).not.toContain('mismatch')
    const other = change(both, [set(`${CHAIN}/mandate/transaction_id`, 'C'.repeat(43))])
    expect(verdicts(bindingsOf(other), 'hash').filter((verdict) => verdict === 'mismatch')).toHaveLength(1)
    const reference = (id: string) =>
      verdicts(
        bindingsOf(
          change(both, [
            set(`${CHAIN}/open/constraints/0`, { type: 'payment.reference', conditional_transaction_id: id }),
          ]),
        ),
        'constraint',
      )
    expect(reference('D'.repeat(43))).toContain('mismatch')
  })

  it('finds the open mandate of a closed one that came apart from it', () => {
    const { payment_mandate_chain: chain } = wire(SAMPLES['ap2-payment']!).body as {
      payment_mandate_chain: string
    }
    const [open = '', closed = ''] = chain.split('~~')
    const hashes = (body: Plain) => verdicts(bindingsOf({ ...SAMPLES['ap2-payment']!, body }), 'hash')
    const ofChain = hashes({ payment_mandate_chain: chain })
    expect(hashes({ open_payment_mandate: `${open}~`, payment_mandate: closed })).toEqual(ofChain)
    expect(hashes({ payment_mandate: closed })).toEqual(['unverifiable', 'unverifiable', 'match'])
  })

  it('notices a disclosure that nobody signed', () => {
    const source = wire(SAMPLES['ap2-payment']!)
    const body = source.body as { payment_mandate_chain: string }
    const foreign = Buffer.from('["c2FsdA",{"vct":"mandate.payment.1"}]').toString('base64url')
    const message = readMessage({
      ...source,
      body: { payment_mandate_chain: `${body.payment_mandate_chain}${foreign}~` },
    })
    const found = analyse(message).bindings.filter(({ verdict }) => verdict === 'mismatch')
    expect(found.map(({ kind, at }) => [kind, at])).toEqual([
      ['hash', '/body/payment_mandate_chain#/1/disclosures'],
    ])
  })
})
