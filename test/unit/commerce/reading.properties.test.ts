import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import type { Binding, Detection, TransactionInput } from '../../../src/commerce/ports.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { wire } from '../../support/commerce.ts'

const INPUTS = [...Object.values(SAMPLES), ...Object.values(KINDS).map(({ source }) => source)].map(
  (source) => wire(source) as TransactionInput,
)

interface Reading {
  readonly detection: Detection
  readonly bindings: readonly Binding[]
  readonly facts: readonly unknown[]
}

function read(input: TransactionInput): Reading {
  const { detection, bindings, spoken } = analyse(readMessage(input))
  return { detection, bindings, facts: spoken.map(({ facts }) => facts) }
}

/** All that an answer could be made of, with the names of headers in one case: places keep the spelling of the input. */
function summarise({ detection, bindings, facts }: Reading): unknown {
  const text = JSON.stringify({
    ...detection,
    layers: detection.layers.map((layer) => ({ ...layer, document: undefined })),
    primary: null,
    bindings,
    facts: [detection.facts, facts.map(sortMembers)],
  })
  return text.replaceAll(/\/headers\/[^/#" ]+/g, (place) => place.toLowerCase())
}

/** Documents are passed on as they came, members in any order. */
function sortMembers(value: unknown): unknown {
  return reorder(value, 'sorted')
}

const input = fc.constantFrom(...INPUTS)

function reorder(value: unknown, pick: ((length: number) => number) | 'sorted'): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, pick))
  if (typeof value !== 'object' || value === null) return value
  const rest = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const entries: [string, unknown][] = []
  while (rest.length > 0) entries.push(...rest.splice(pick === 'sorted' ? 0 : pick(rest.length), 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, reorder(item, pick)]))
}

/** A string that stands somewhere in a message, or what an attacker would put there. */
const nasty = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  fc.constantFrom(
    'Payment ',
    'Payment e30',
    'Payment id="',
    `Payment ${Buffer.from('[]').toString('base64url')}`,
    `ey${'~'.repeat(50)}`,
    `${Buffer.from('{"alg":"x"}').toString('base64url')}.${Buffer.from('{"vct":"mandate.payment.1","_sd":[1,null,{}]}').toString('base64url')}.x~WyJh~~`,
    '\ud800',
    '__proto__',
    'sig1=();created=99999999999999999999',
    'sha-256=:::',
    '9'.repeat(400),
    'did:web:',
    'mcp://tool/%ff',
    'https://[::1',
  ),
)
const KEYS = [
  ...'jsonrpc method params result error data challenges _meta x402/payment x402/payment-response metadata message parts'.split(
    ' ',
  ),
  ...'x402.payment.payload x402.payment.required x402.payment.receipts x402.payment.status accepts x402Version payload'.split(
    ' ',
  ),
  ...'authorization permit2Authorization witness extensions payment-identifier offer-receipt info offers signature code'.split(
    ' ',
  ),
  ...'org.paymentauth/credential org.paymentauth/receipt challenge request methodDetails splits ap2.mandates.CartMandate'.split(
    ' ',
  ),
  ...'payment_mandate ap2 checkout_mandate arguments meta ucp-agent name allowance payment_data instrument credential'.split(
    ' ',
  ),
  ...'ucp version totals type amount payment instruments structuredContent content text status task id kind role taskId'.split(
    ' ',
  ),
  ...'__proto__ constructor paymentPayload paymentRequirements accepted resource url'.split(' '),
]
const HEADERS = [
  ...'PAYMENT-SIGNATURE X-PAYMENT PAYMENT-REQUIRED PAYMENT-RESPONSE Authorization Payment-Authorization'.split(
    ' ',
  ),
  ...'WWW-Authenticate Payment-Receipt UCP-Agent API-Version Merchant-Signature Signature Signature-Input'.split(
    ' ',
  ),
  ...'Content-Digest Host Content-Type MCP-Protocol-Version Mcp-Method Mcp-Name X-A2A-Extensions __proto__'.split(
    ' ',
  ),
]
const leaf = fc.oneof(
  nasty,
  fc.constantFrom(
    '2.0',
    'tools/call',
    'message/send',
    'task',
    'total',
    'exact',
    -32042,
    402,
    1,
    2,
    null,
    true,
  ),
  fc.double(),
  fc.integer(),
)
const tree: fc.Arbitrary<unknown> = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('tree'), { maxKeys: 6, noNullPrototype: true }),
  ),
})).tree
const encoded = tree.map((value) => Buffer.from(JSON.stringify(value) ?? '').toString('base64'))
const headerValue = fc.oneof(
  nasty,
  encoded,
  encoded.map((text) => `Payment ${text}`),
)
const garbage: fc.Arbitrary<TransactionInput> = fc.record(
  {
    target: fc.oneof(
      nasty,
      fc.constantFrom('https://shop.example/checkout_sessions/%ff/complete', 'https://shop.example/mcp'),
    ),
    method: fc.constantFrom('GET', 'POST', 'PUT'),
    headers: fc.dictionary(
      fc.oneof(fc.constantFrom(...HEADERS), nasty),
      fc.oneof(headerValue, fc.array(headerValue, { maxLength: 3 })),
      { maxKeys: 5, noNullPrototype: true },
    ),
    body: fc.oneof(
      tree,
      nasty,
      tree.map((value) => JSON.stringify(value)),
      fc
        .dictionary(fc.constantFrom(...KEYS), tree, { noNullPrototype: true })
        .map((more) => ({ ...more, jsonrpc: '2.0' })),
    ),
  },
  { requiredKeys: ['target'] },
)

describe('reading', () => {
  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(input, fc.infiniteStream(fc.nat()), (source, order) => {
        const pick = (length: number) => (order.next().value as number) % length
        const other = reorder(source, pick) as TransactionInput
        expect(summarise(read(other))).toBe(summarise(read(source)))
      }),
    )
  })

  it('does not depend on case and spacing of headers', () => {
    fc.assert(
      fc.property(input, fc.boolean(), fc.constantFrom('', ' ', '\t '), (source, isUpper, space) => {
        const headers = Object.fromEntries(
          Object.entries(source.headers ?? {}).map(([name, value]) => [
            isUpper ? name.toUpperCase() : name.toLowerCase(),
            typeof value === 'string' ? `${space}${value}${space}` : value,
          ]),
        )
        expect(summarise(read({ ...source, headers }))).toBe(summarise(read(source)))
      }),
    )
  })

  it('takes a JSON body the same as an object and as text, but for its bytes', () => {
    const names = ({ detection }: Reading) => [
      detection.protocol,
      detection.version,
      detection.stage,
      detection.transport,
      detection.layers.map(({ name }) => name),
      detection.facts.amount?.value,
      detection.facts.payee?.value,
    ]
    for (const source of INPUTS) {
      if (typeof source.body !== 'object' || source.body === null) continue
      expect(names(read({ ...source, body: JSON.stringify(source.body) }))).toEqual(names(read(source)))
    }
  })

  it('throws at nothing', () => {
    fc.assert(
      fc.property(garbage, (source) => {
        read(source)
      }),
      { numRuns: 1500 },
    )
  })

  it('throws at nothing that one of our messages becomes when a value of it is replaced', () => {
    fc.assert(
      fc.property(input, fc.nat(), fc.oneof(leaf, tree), (source, at, value) => {
        const copy = JSON.parse(JSON.stringify(source)) as { [name: string]: unknown }
        const slots: [{ [name: string]: unknown }, string][] = []
        const collect = (from: { [name: string]: unknown }) => {
          for (const [key, inner] of Object.entries(from)) {
            slots.push([from, key])
            if (typeof inner === 'object' && inner !== null) collect(inner as { [name: string]: unknown })
          }
        }
        collect(copy)
        const inside = slots.filter(([from, key]) => from !== copy && key !== 'headers')
        const [from, key] = inside[at % Math.max(inside.length, 1)] ?? [copy, 'body']
        from[key] = value
        // A header is text; the door says so before anything is read.
        const headers = Object.fromEntries(
          Object.entries((copy['headers'] ?? {}) as object).map(([name, text]) => [name, text as string]),
        )
        read({ ...(copy as unknown as TransactionInput), headers })
      }),
      { numRuns: 1500 },
    )
  })

  // Each of these once took the square of its size.
  it.each<[string, (size: number) => unknown]>([
    ['a name of underscores', (size) => ({ ['a_'.repeat(size / 2)]: 'eyJ' })],
    ['a token of tildes', (size) => ({ payment_mandate: `ey${'~'.repeat(size)}` })],
    ['texts that start as tokens do', (size) => Array.from({ length: size / 20 }, () => 'eyJ.eyJ.x~~abc')],
    [
      'every offer against every requirement',
      (size) => ({
        x402Version: 2,
        accepts: Array.from({ length: size / 80 }, () => ({ amount: '1', payTo: 'a' })),
        extensions: {
          'offer-receipt': {
            info: {
              offers: Array.from({ length: size / 80 }, () => ({
                format: 'eip712',
                payload: { payTo: 'b' },
              })),
            },
          },
        },
      }),
    ],
  ])('reads %s in one pass', (_what, make) => {
    const body = JSON.stringify(make(200_000))
    expect(body.length).toBeGreaterThan(140_000)
    expect(read({ target: 'https://shop.example/', body }).detection.conflicts).toEqual([])
  })

  it('says where things stand: every place leads to something', () => {
    for (const source of INPUTS) {
      const { detection, bindings } = read(source)
      const { credentials, amountIsInteger: _integer, ...facts } = detection.facts
      const places = [
        ...credentials,
        ...Object.values(facts).flatMap((found) =>
          found === null || typeof found !== 'object' ? [] : [found.at],
        ),
        ...detection.layers.flatMap(({ evidence, document }) => [
          ...evidence.map(({ at }) => at),
          ...(document === undefined ? [] : [document.at]),
        ]),
        ...bindings.flatMap((binding) => [binding.at, binding.with]),
      ]
      for (const place of places) {
        const [outer = ''] = place.split('#')
        let value: unknown = source
        for (const key of outer.split('/').slice(1))
          value = (value as { [name: string]: unknown })[key.replaceAll('~1', '/').replaceAll('~0', '~')]
        expect(value, place).toBeDefined()
        // What is behind a `#` is inside of text.
        if (place.includes('#')) expect(typeof value, place).toBe('string')
      }
    }
  })

  it('shows nothing of what came in but protocol words', () => {
    for (const source of INPUTS) {
      const { detection, bindings } = read(source)
      const shown = JSON.stringify([
        detection.layers.map(({ evidence }) => evidence.map(({ mark }) => mark)),
        detection.conflicts.map(({ message }) => message),
        bindings.map(({ message }) => message),
      ])
      for (const secret of [
        '5e71c0a49b3fd286',
        'spt_made_up',
        'made-up',
        'a3f0915cd7e4286b',
        'c2FsdC',
        '1b2c1b2c',
        'shop_81',
      ])
        expect(shown).not.toContain(secret)
    }
  })
})
