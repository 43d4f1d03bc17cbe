// Names of members and headers are in the pointers of every answer, and whoever sends the sample chose them.
import { describe, expect, it } from 'vitest'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { hideNames } from '../../../src/commerce/secrets/places.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { parseInput } from '../../../src/core/input.ts'
import type { AnyTool } from '../../../src/core/registry.ts'
import { inspectTransaction as inspectTool } from '../../../tools/inspect.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { wire } from '../../support/commerce.ts'

const CARD = ['4000', '0566', '5566', '5556'].join('')
const PASSWORD = ['hunter2', 'hunter2'].join('')
const policy = toPolicy({ default: {}, accounts: {} }, undefined)

const NAMES: readonly (readonly [string, string, string])[] = [
  ['a card number', CARD, CARD],
  [
    'a card number in groups',
    CARD.replaceAll(/(.{4})(?!$)/g, '$1 '),
    CARD.slice(4, 8) + ' ' + CARD.slice(8, 12),
  ],
  ['a token', `ghp_${'a1B2c3D4'.repeat(4)}x9Y8`, 'a1B2c3D4'],
  ['an address with a password', `https://u:${PASSWORD}@h.example/`, PASSWORD],
]

describe('a name without end', () => {
  it('has what stands under it told apart, and each of it once', () => {
    const name = 'n'.repeat(20_000)
    // Read as it is and unescaped: two texts at one place.
    const body = { [name]: { a: `${CARD} %41`, b: CARD, c: ['x', CARD] }, [`${name}n`]: { b: CARD } }
    const { redactions } = inspectTransaction({ target: 'https://shop.example/', body }, policy, 0)
    expect(redactions.map(({ path }) => path)).toEqual(['/body/*/a', '/body/*/b', '/body/*/c/1', '/body/*/b'])
  })
})

describe('a name that is more than a name', () => {
  it.each(NAMES)('%s is in no report and no inspection', (_, name, secret) => {
    const { body, ...rest } = wire(SAMPLES['ap2-payment']!)
    const { payment_mandate_chain: chain } = body as { payment_mandate_chain: string }
    const sample = { ...rest, body: { [name]: chain } }
    const report = testTransaction(sample)
    expect(report.protocol).toBe('ap2')
    expect(report.checks.some(({ evidence }) => evidence?.startsWith('/body/*'))).toBe(true)
    expect(JSON.stringify(report)).not.toContain(secret)
    expect(JSON.stringify(inspectTransaction(sample, policy, 0))).not.toContain(secret)
  })
})

describe('a refusal of input', () => {
  it.each(NAMES)('quotes no name that is %s', (_, name, secret) => {
    for (const input of [
      { target: 'https://shop.example/', [name]: 1 },
      { target: 'https://shop.example/', headers: { [name]: 1 } },
    ]) {
      const refusal = refusalOf(() => parseInput(inspectTool as unknown as AnyTool, input, { hideNames }))
      expect(refusal.extras['fields']).toEqual([
        expect.objectContaining({ pointer: expect.stringMatching(/^(?:\/headers)?\/\*$/) }),
      ])
      expect(refusal.message + JSON.stringify(refusal.extras)).not.toContain(secret)
    }
  })

  it('names the others', () => {
    const refusal = refusalOf(() =>
      parseInput(
        inspectTool as unknown as AnyTool,
        { target: 'https://shop.example/', url: '' },
        { hideNames },
      ),
    )
    expect(refusal.message).toContain('/url: Unknown property')
  })
})

function refusalOf(run: () => unknown): GatewayError {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
  }
  throw new Error('it was not refused')
}

it.each([
  '',
  '/headers/PAYMENT-SIGNATURE#/accepted/amount',
  '/body/params/_meta/io.modelcontextprotocol~1protocolVersion',
  '/body/payment_mandate_chain#1/disclosures/0',
])('%j is shown as it is', (place) => {
  expect(hideNames(place)).toBe(place)
})
