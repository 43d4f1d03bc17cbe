// The list of protocols, and a seventh one that is added to it: everything that judges a message takes it from there.
import { describe, expect, it } from 'vitest'
import { ProtocolName } from '../../../schemas/commerce.ts'
import { analyse } from '../../../src/commerce/analysis.ts'
import { bind } from '../../../src/commerce/compare.ts'
import { pick, pickNumeral, pickObject, pickText } from '../../../src/commerce/decode/value.ts'
import { jsonBody, readMessage } from '../../../src/commerce/message.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { judgeMessage } from '../../../src/commerce/policy/judge.ts'
import { reason } from '../../../src/commerce/policy/reasons.ts'
import { type Found, NO_FACTS, type JsonObject } from '../../../src/commerce/ports.ts'
import type { Protocol } from '../../../src/commerce/protocol.ts'
import { PROTOCOLS } from '../../../src/commerce/protocols.ts'
import { all, none, type Rubric } from '../../../src/commerce/rubric/model.ts'
import { scoreAnalysis } from '../../../src/commerce/rubric/report.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { wire } from '../../support/commerce.ts'

interface BarterFacts {
  readonly gives: Found<string> | null
  readonly takes: Found<string> | null
  readonly eggs: ReturnType<typeof pickNumeral>
}

const rubric: Rubric<BarterFacts> = {
  protocol: 'barter',
  covers: 'a swap',
  checks: [
    {
      id: 'BARTER-BIND-01',
      max: 5,
      asks: 'The swap says who gives.',
      remediation: 'Name the giver.',
      spec: null,
      judge: ({ facts }) => (facts.gives === null ? none('Nobody gives.') : all(facts.gives.at)),
    },
  ],
  caps: () => [],
}

/** Pays in eggs. Its messages are `{"barter": {"gives", "takes", "eggs", "egg_token"}}`. */
const barter: Protocol<BarterFacts, Found<JsonObject>> = {
  name: 'barter',
  role: 'payment',
  covers: { versions: ['1'], transports: ['http'], stages: ['swap'] },
  detect({ message }) {
    const document = pickObject(jsonBody(message), 'barter')
    if (document === null) return undefined
    const layer = {
      name: 'barter',
      version: '1',
      transport: 'http',
      stage: 'swap',
      confidence: 'high',
      evidence: [{ mark: 'member barter', at: document.at }],
      document,
      isUndecodable: false,
    } as const
    return { layer, conflicts: [], sights: document }
  },
  read: ({ sights }) => ({
    gives: pickText(sights, 'gives'),
    takes: pickText(sights, 'takes'),
    eggs: pickNumeral(sights, 'eggs'),
  }),
  summarise: ({ facts, layer }) => ({
    ...NO_FACTS,
    amount: facts.eggs,
    amountIsInteger: facts.eggs?.isInteger === true,
    payee: facts.takes,
    credentials: [pick(layer.document ?? null, 'egg_token')?.at ?? ''],
  }),
  bind: ({ facts: { gives, takes } }) =>
    gives === null || takes === null
      ? []
      : [
          bind(
            'payee',
            gives.value === takes.value ? 'mismatch' : 'match',
            takes.at,
            gives.at,
            'Nobody trades alone.',
          ),
        ],
  score: { rubrics: [rubric], choose: () => rubric },
  policy: {
    pricedStages: new Set(['swap']),
    credentialKind: 'egg_token',
    judge: ({ layer, facts }) =>
      facts.eggs === null ? [reason('AMOUNT_UNPARSEABLE', layer.evidence[0]?.at ?? '')] : [],
  },
}

const policy = toPolicy({ default: {}, accounts: {} }, undefined)
const swap = (more: object) =>
  analyse(
    readMessage({
      target: 'https://market.example/swap',
      method: 'POST',
      body: { barter: { gives: 'anna', takes: 'bert', eggs: 12, egg_token: 'a'.repeat(30), ...more } },
    }),
    [...PROTOCOLS, barter],
  )

describe('the list of protocols', () => {
  it('is the public vocabulary', () => {
    expect([...PROTOCOLS.map(({ name }) => name), 'unknown']).toEqual(ProtocolName.options)
  })

  it('has one value for each folder, with rubrics of its own', () => {
    for (const { name, score } of PROTOCOLS)
      expect(
        score.rubrics.map(({ protocol }) => protocol),
        name,
      ).toEqual(score.rubrics.map(() => name))
  })
})

describe('a seventh protocol', () => {
  it('is not known before it is on the list', () => {
    const message = readMessage({ target: 'https://market.example/swap', body: { barter: {} } })
    expect(analyse(message).detection.protocol).toBe('unknown')
  })

  it('is detected and read', () => {
    const { detection, primary } = swap({})
    expect([detection.protocol, detection.version, detection.stage]).toEqual(['barter', '1', 'swap'])
    expect(detection.facts.amount).toMatchObject({ value: '12', at: '/body/barter/eggs' })
    expect(primary?.facts).toMatchObject({ takes: { value: 'bert', at: '/body/barter/takes' } })
  })

  it('is bound', () => {
    const verdicts = (more: object) =>
      swap(more).bindings.flatMap(({ kind, verdict }) => (kind === 'payee' ? verdict : []))
    expect([verdicts({}), verdicts({ takes: 'anna' })]).toEqual([['match'], ['mismatch']])
  })

  it('is scored by its rubric', () => {
    const checksOf = (more: object) => scoreAnalysis(swap(more))?.checks.map(({ id, points }) => [id, points])
    expect(checksOf({})).toEqual([['BARTER-BIND-01', 5]])
    expect(checksOf({ gives: 1 })).toEqual([['BARTER-BIND-01', 0]])
    expect(scoreAnalysis(swap({ takes: 'anna' }))?.caps.map(({ id }) => id)).toEqual(['MISMATCH'])
  })

  it('is judged, by the rules for all and by its own', () => {
    const codesOf = (more: object) =>
      judgeMessage(swap(more), policy, 0).reasons.map(({ code, path }) => `${code} ${path}`)
    expect(codesOf({})).toContain('POLICY_INPUT_MISSING /body/barter/eggs')
    expect(codesOf({ eggs: null })).toEqual(
      expect.arrayContaining(['AMOUNT_UNPARSEABLE /body/barter', 'AMOUNT_MISSING /body/barter/takes']),
    )
    expect(codesOf({ takes: 'anna' })).toContain('BINDING_PAYEE /body/barter/takes')
  })

  it('contradicts another payment in the same message', () => {
    const { headers } = wire(SAMPLES['x402-http']!)
    const paid = { stage: 'payment' }
    const both = analyse(
      readMessage({ target: 'https://market.example/swap', headers, body: { barter: { gives: 'anna' } } }),
      [...PROTOCOLS, { ...barter, detect: (reading) => withStage(barter.detect(reading), paid) }],
    )
    expect(both.detection.protocol).toBe('x402')
    expect(both.detection.conflicts.map(({ code, message }) => [code, message])).toEqual([
      ['DETECT-CONFLICT', 'The message is barter as well as x402: one of them has to go.'],
    ])
  })
})

type Sight = ReturnType<typeof barter.detect>
const withStage = (sight: Sight, stage: { readonly stage: string }): Sight =>
  sight && { ...sight, layer: { ...sight.layer, ...stage } }
