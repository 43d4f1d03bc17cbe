// Whoever takes a signature away gains nothing by it: no score rises, and what was denied or for somebody to look at is not allowed.
import { describe, expect, it } from 'vitest'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import type { TransactionInput } from '../../../src/commerce/ports.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { VARIANTS } from '../../data/commerce/variants.ts'
import { change, membersOf, type Plain, type SampleSource, wire } from '../../support/commerce.ts'

const CAPS = [
  ...['EUR', 'USD'].map((currency) => ({ currency, max: '100000000' })),
  { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', network: 'eip155:84532', max: '100000000' },
]
/** One that allows most, so that a fall of a decision shows. */
const policy = toPolicy({ default: { caps: CAPS }, accounts: {} }, undefined)
const RANK = { deny: 0, review: 1, allow: 2 }

const SOURCES: readonly (readonly [name: string, source: SampleSource])[] = [
  ...Object.entries(SAMPLES),
  ...Object.entries(KINDS)
    .filter(([, { source }]) => !Object.values(SAMPLES).includes(source))
    .map(([name, { source }]) => [name, source] as const),
  ...VARIANTS.map(({ id, base, changes }) => [id, change(SAMPLES[base]!, changes)] as const),
]

/** Members that hold what somebody signed, in the words of all protocols. */
const SIGNED =
  /(?:signature|proof|authorization|transaction|hash|preimage|spt|permissionContext|block|paymentGroup|jwt|token|mandate|chain|Signature-Input)$/i

/** Signatures of the decoded sample, and the segments of JWTs inside the tokens that it is encoded to. */
/** @param isWhole whether an empty text and null are tried as well: a variant differs little from its sample */
function* strip(
  source: SampleSource,
  isWhole: boolean,
): Generator<readonly [how: string, input: TransactionInput]> {
  const members = [...membersOf(source as unknown as Plain)].filter(
    (at) => /^\/(?:headers|body)\/./.test(at) && SIGNED.test(at),
  )
  for (const at of members) {
    yield [`without ${at}`, wire(change(source, [{ op: 'remove', at }])) as TransactionInput]
    for (const value of isWhole ? ['', null] : []) {
      // A header is text.
      if (value === null && /^\/headers\/[^/]*$/.test(at)) continue
      yield [
        `${JSON.stringify(value)} in ${at}`,
        wire(change(source, [{ op: 'set', at, value }])) as TransactionInput,
      ]
    }
  }
  const input = wire(source) as TransactionInput
  const text = JSON.stringify(input)
  const tokens = [...text.matchAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g)]
  for (const [index, { 0: token, index: start }] of tokens.entries())
    for (const bare of [token.replace(/[^.]*$/, ''), token.replace(/\.[^.]*$/, '')])
      yield [
        `token ${index} with ${bare.endsWith('.') ? 'nothing behind its last dot' : 'no last dot'}`,
        JSON.parse(text.slice(0, start) + bare + text.slice(start + token.length)) as TransactionInput,
      ]
}

const look = (input: TransactionInput) => ({
  decision: inspectTransaction(input, policy, 1_790_000_120_000).policy.decision,
  score: testTransaction(input).score,
})

describe('a transaction of any protocol that loses a signature', () => {
  it('scores no more than before, and is not allowed where it was not', () => {
    const worse: string[] = []
    let seen = 0
    for (const [name, source] of SOURCES) {
      const before = look(wire(source) as TransactionInput)
      for (const [how, input] of strip(source, Object.hasOwn(SAMPLES, name))) {
        // What no header can be is refused before.
        if (Object.values(input.headers ?? {}).some((one) => typeof one !== 'string' && !Array.isArray(one)))
          continue
        seen++
        const after = look(input)
        if (after.score > before.score) worse.push(`${name} ${how}: ${before.score} -> ${after.score}`)
        if (before.decision !== 'allow' && RANK[after.decision] === RANK.allow)
          worse.push(`${name} ${how}: ${before.decision} -> ${after.decision}`)
      }
    }
    expect(seen).toBeGreaterThan(500)
    expect(worse).toEqual([])
  })
})
