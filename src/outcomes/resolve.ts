// Claims -> one job. Deterministic, and written over a table of capabilities: a new one is a row, not a branch.
// Returns a verdict; what a refusal looks like to the caller is repair.ts.
import type { OutcomeId } from '../../schemas/outcome.ts'
import { type Claim, type ClaimField, OPTION_FIELDS, SOURCE_FIELDS } from './claims.ts'
import { understand } from './phrases.ts'
import type { CapabilityUse } from './ports.ts'

export type Resolution =
  | {
      readonly ok: true
      readonly kind: 'demo' | 'capability'
      readonly capability: OutcomeId
      readonly claims: ReadonlyMap<ClaimField, unknown>
      /** Paid with test money. */
      readonly testnet: boolean
      readonly words: string | null
      readonly readFrom: readonly string[]
      readonly ignored: readonly string[]
    }
  | {
      readonly ok: false
      readonly reason: 'conflict'
      readonly pointers: readonly string[]
      readonly why: string
    }
  | { readonly ok: false; readonly reason: 'not_live'; readonly capability: OutcomeId }
  | {
      readonly ok: false
      readonly reason: 'missing'
      readonly capability: OutcomeId
      readonly needs: readonly ClaimField[]
    }
  | {
      readonly ok: false
      readonly reason: 'unknown'
      readonly between: readonly OutcomeId[]
      readonly unknownNames: readonly string[]
    }

type Refused = Resolution & { ok: false }

export function resolveJob(claims: readonly Claim[], live: readonly CapabilityUse[]): Resolution {
  const contradiction = findContradiction(claims)
  if (contradiction) return contradiction
  const value = new Map(claims.map((claim) => [claim.field, claim.value]))
  const pointersOf = (...fields: readonly ClaimField[]) =>
    claims.filter((claim) => fields.includes(claim.field)).map(({ pointer }) => pointer)
  const sentences = claims
    .filter(({ field }) => field === 'words')
    .map(({ value: words, pointer }) => ({
      words: String(words),
      pointer,
      meaning: understand(String(words)),
    }))
  const words = sentences.length === 0 ? null : sentences.map((sentence) => sentence.words).join('\n')
  const explicit = value.get('capability') as OutcomeId | undefined
  const liveUse = (id: OutcomeId) => live.find((use) => use.id === id)

  const demo = sentences.find(({ meaning }) => meaning.kind === 'demo')
  if (demo) {
    const sources = pointersOf(...SOURCE_FIELDS)
    if (sources.length > 0)
      return conflict([demo.pointer, ...sources], 'the demo reads its own sample, not your source')
    const capability = explicit ?? live[0]!.id
    if (!liveUse(capability)) return { ok: false, reason: 'not_live', capability }
    return {
      ok: true,
      kind: 'demo',
      capability,
      claims: new Map(),
      testnet: false,
      words,
      readFrom: [demo.pointer, ...pointersOf('capability')],
      ignored: pointersOf(...OPTION_FIELDS),
    }
  }

  const unknownNames = pointersOf('unknown_name')
  if (unknownNames.length > 0) return { ok: false, reason: 'unknown', between: [], unknownNames }

  const named = sentences.flatMap(({ meaning, pointer }) =>
    meaning.kind === 'capability' ? [{ ...meaning, pointer }] : [],
  )
  const exact = named.filter((name) => name.exact)
  const otherExact = exact.find((name) => name.capability !== (explicit ?? exact[0]!.capability))
  if (otherExact)
    return conflict(
      [...pointersOf('capability'), ...exact.map(({ pointer }) => pointer)],
      'they name different capabilities',
    )

  const byShape = shapeOf(value)
  if (byShape === 'both' && explicit === undefined && exact.length === 0)
    return conflict(pointersOf(...SOURCE_FIELDS), 'HTML in hand and addresses to fetch are different jobs')
  const implied = byShape === 'html' ? ('extract-preview' as const) : undefined
  const guess = named.find((name) => !name.exact)
  const capability =
    explicit ??
    exact[0]?.capability ??
    implied ??
    guess?.capability ??
    (byShape === 'addresses' ? ('web-extraction' as const) : undefined)
  if (capability === undefined) {
    const unclear = sentences.flatMap(({ meaning }) => (meaning.kind === 'unclear' ? meaning.between : []))
    return { ok: false, reason: 'unknown', between: unclear, unknownNames: [] }
  }

  const use = liveUse(capability)
  if (!use) return { ok: false, reason: 'not_live', capability }
  const misplaced = pointersOf(...SOURCE_FIELDS.filter((field) => !use.uses.includes(field)))
  if (misplaced.length > 0)
    return conflict(
      [...pointersOf('capability', ...use.needs), ...misplaced],
      `${capability} has no use for that source`,
    )
  if (use.needs.length > 0 && !use.needs.some((field) => value.has(field)))
    return { ok: false, reason: 'missing', capability, needs: use.needs }

  const decisive: ClaimField[] = ['capability', ...use.uses]
  const decidedByWords = explicit === undefined && implied === undefined
  return {
    ok: true,
    kind: 'capability',
    capability,
    testnet: value.get('testnet') === true,
    claims: new Map([...value].filter(([field]) => use.uses.includes(field))),
    words,
    readFrom: [...pointersOf(...decisive), ...(decidedByWords ? named.map(({ pointer }) => pointer) : [])],
    ignored: pointersOf(...OPTION_FIELDS.filter((field) => !use.uses.includes(field))),
  }
}

const conflict = (pointers: readonly string[], why: string): Refused => ({
  ok: false,
  reason: 'conflict',
  pointers: [...new Set(pointers)],
  why,
})

/** The same field said twice with different values. Saying the same thing twice is fine. */
function findContradiction(claims: readonly Claim[]): Refused | undefined {
  const first = new Map<ClaimField, Claim>()
  for (const claim of claims) {
    if (claim.field === 'words' || claim.field === 'unknown_name') continue
    const before = first.get(claim.field)
    if (!before) first.set(claim.field, claim)
    else if (JSON.stringify(before.value) !== JSON.stringify(claim.value))
      return conflict([before.pointer, claim.pointer], `they give two different values for ${claim.field}`)
  }
  return undefined
}

function shapeOf(value: ReadonlyMap<ClaimField, unknown>): 'html' | 'addresses' | 'both' | undefined {
  const many = value.has('urls') || value.has('sources')
  if (value.has('html')) return many ? 'both' : 'html'
  return many || value.has('url') ? 'addresses' : undefined
}
