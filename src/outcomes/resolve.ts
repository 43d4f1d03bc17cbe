// Turns claims into one job. Deterministic, and written over a table of capabilities: a new one is a row, not a branch.
// Returns a verdict; what a refusal looks like to the caller is repair.ts.
import type { OutcomeId } from '../../schemas/outcome.ts'
import { type Claim, type ClaimField, OPTION_FIELDS, SOURCE_FIELDS } from './claims.ts'
import type { JobId } from './intents/jobs.ts'
import { type Judgement, judgeWords } from './intents/judge.ts'
import { MAX_UNITS, readSentence, type Sentence } from './phrases.ts'
import type { CapabilityUse } from './ports.ts'
import { readSources, toCanonicalUrl, toKey } from './sources/requested.ts'
import { MAX_SOURCES } from './limits.ts'
import { must } from '../lib/must.ts'

/** The understood part of a request, whether or not it is enough: a refusal shows it. */
export interface Understood {
  /** Most likely first. */
  readonly candidates: readonly OutcomeId[]
  /** Addresses of the fields and of the words. */
  readonly urls: readonly string[]
  readonly limit: number | undefined
  readonly query: string | undefined
}

export type Resolution =
  | {
      readonly ok: true
      readonly kind: 'demo' | 'capability'
      readonly capability: OutcomeId
      /** The claims that the capability uses, from the fields or, where those say nothing of it, from the words. */
      readonly claims: ReadonlyMap<ClaimField, unknown>
      /** Paid with test money. */
      readonly testnet: boolean
      readonly words: string | null
      readonly readFrom: readonly string[]
      readonly ignored: readonly string[]
      /** Jobs that the words ask for besides, and that are not done here. */
      readonly leftOut: readonly JobId[]
    }
  | ({ readonly ok: false; readonly understood: Understood } & Refused)

export type Refused =
  | { readonly reason: 'conflict'; readonly pointers: readonly string[]; readonly why: string }
  | { readonly reason: 'too_many_sources'; readonly pointers: readonly string[] }
  | { readonly reason: 'not_live'; readonly capability: OutcomeId }
  | {
      readonly reason: 'missing'
      readonly capability: OutcomeId
      readonly needs: readonly ClaimField[]
      readonly leftOut: readonly JobId[]
    }
  /** Only jobs are asked for that are not done here. */
  | { readonly reason: 'not_done'; readonly jobs: readonly JobId[] }
  | {
      readonly reason: 'unknown'
      readonly between: readonly OutcomeId[]
      readonly unknownNames: readonly string[]
    }

interface Said extends Sentence {
  readonly words: string
  readonly pointer: string
}

/** Everything that was claimed, by field, and what the words add. */
interface Reading {
  readonly claims: readonly Claim[]
  readonly value: ReadonlyMap<ClaimField, unknown>
  readonly said: readonly Said[]
  readonly saidUrls: readonly string[]
  readonly words: string | null
  readonly live: readonly CapabilityUse[]
  pointersOf(...fields: readonly ClaimField[]): string[]
}

const SOURCES: ReadonlySet<ClaimField> = new Set(SOURCE_FIELDS)

/** @param live capabilities that run on this gateway */
export function resolveJob(claims: readonly Claim[], live: readonly CapabilityUse[]): Resolution {
  const reading = read(claims, live)
  const verdict = decide(reading)
  return 'ok' in verdict ? verdict : { ok: false, understood: understandingOf(reading), ...verdict }
}

function read(claims: readonly Claim[], live: readonly CapabilityUse[]): Reading {
  let left = MAX_UNITS
  const hasSource = claims.some(({ field }) => SOURCES.has(field))
  const said = claims
    .filter(({ field }) => field === 'words')
    .map(({ value, pointer }) => {
      const words = String(value)
      const sentence = readSentence(words.slice(0, left), hasSource)
      left = Math.max(0, left - words.length)
      return { ...sentence, words, pointer }
    })
  return {
    claims,
    live,
    said,
    value: new Map(claims.map(({ field, value }) => [field, value])),
    saidUrls: [...new Set(said.flatMap(({ urls }) => urls))],
    words: said.length === 0 ? null : said.map(({ words }) => hidePasswords(words)).join('\n'),
    pointersOf: (...fields) =>
      claims.filter(({ field }) => fields.includes(field)).map(({ pointer }) => pointer),
  }
}

/** Words are shown back in the answer. */
const hidePasswords = (words: string) => words.replace(/(:\/\/)[^\s/?#]+@/g, '$1***@')

type Verdict = (Resolution & { ok: true }) | Refused

function decide(reading: Reading): Verdict {
  const { claims, value, said, pointersOf } = reading
  const contradiction = findContradiction(claims)
  if (contradiction) return contradiction
  const unknownNames = pointersOf('unknown_name')
  if (unknownNames.length > 0) return { reason: 'unknown', between: [], unknownNames }

  const explicit = value.get('capability') as OutcomeId | undefined
  const names = said.filter(({ named }) => named.length === 1)
  const named = names[0]?.named[0]
  if (names.some((name) => name.named[0] !== (explicit ?? named)))
    return conflict(
      [...pointersOf('capability'), ...names.map(({ pointer }) => pointer)],
      'they name different capabilities',
    )

  const demo = decideDemo(reading, explicit ?? named)
  if (demo) return demo
  const stray = findStray(reading)
  if (stray) return stray

  const shape = shapeOf(value)
  if (shape === 'both' && explicit === undefined && named === undefined)
    return conflict(pointersOf(...SOURCE_FIELDS), 'HTML in hand and addresses to fetch are different jobs')
  const judged = judge(reading)
  // Markup in hand is what the words are about, unless they ask for what nobody here does.
  const implied = shape === 'html' && judged.kind !== 'foreign' ? ('extract-preview' as const) : undefined
  const guess = judged.kind === 'capability' ? judged.capability : undefined
  const capability = explicit ?? named ?? implied ?? guess
  if (capability === undefined) {
    const jobs = judged.kind === 'foreign' ? judged.jobs : []
    if (jobs.length > 0) return { reason: 'not_done', jobs }
    const between = judged.kind === 'unclear' ? judged.between : []
    return { reason: 'unknown', between, unknownNames: [] }
  }
  return prepareJob(reading, capability, {
    isByWords: explicit === undefined && implied === undefined,
    leftOut: leftOutOf(judged),
  })
}

/** A capability that is named is done, and what else the words ask for is left out. */
const leftOutOf = (judged: Judgement): readonly JobId[] =>
  judged.kind === 'capability' ? judged.leftOut : judged.kind === 'foreign' ? judged.jobs : []

const judge = ({ said, value, saidUrls }: Reading) =>
  judgeWords(said, {
    urls: [...new Set([...explicitUrls(value), ...saidUrls])],
    hasHtml: value.has('html'),
  })

/** The demo reads its own sample. With a capability beside it, it is the sample of that capability. */
function decideDemo(reading: Reading, stated: OutcomeId | undefined): Verdict | undefined {
  const { said, saidUrls, value, words, live, pointersOf } = reading
  const demos = said.filter(({ demo }) => demo !== 'no')
  if (demos.length === 0) return undefined
  const judged = judgeWords(said, { urls: [], hasHtml: false })
  const isOnly = demos.some(({ demo }) => demo === 'only')
  if (!isOnly && (judged.kind === 'foreign' || (judged.kind !== 'capability' && stated === undefined)))
    return undefined
  // "The demo of … at https://…" is about a page where nothing but the words speaks of a demo.
  const own = pointersOf(...SOURCE_FIELDS)
  const withUrls = said.filter(({ urls }) => urls.length > 0).map(({ pointer }) => pointer)
  if (!isOnly && saidUrls.length > 0) return undefined
  if (own.length + withUrls.length > 0)
    return conflict(
      [...demos.map(({ pointer }) => pointer), ...own, ...withUrls],
      'the demo reads its own sample, not your source',
    )
  const capability =
    stated ??
    (judged.kind === 'capability' ? judged.capability : must(live[0], 'a capability that runs here').id)
  const use = live.find(({ id }) => id === capability)
  if (!use) return { reason: 'not_live', capability }
  // The sample is the same whatever else is asked; how it is written down is not.
  const hasFormat = use.uses.includes('format') && value.has('format')
  return {
    ok: true,
    kind: 'demo',
    capability,
    claims: new Map(hasFormat ? [['format', value.get('format')]] : []),
    testnet: false,
    words,
    readFrom: [
      ...new Set([
        ...demos.map(({ pointer }) => pointer),
        ...pointersOf('capability'),
        ...said.filter(({ points }) => points.size > 0).map(({ pointer }) => pointer),
      ]),
    ],
    ignored: pointersOf(...OPTION_FIELDS.filter((field) => !hasFormat || field !== 'format'), 'unused'),
    leftOut: [],
  }
}

/** A URL in the words that the fields do not know of. */
function findStray({ said, value, pointersOf }: Reading): Refused | undefined {
  const known = new Set(explicitUrls(value).map(toKey))
  if (known.size === 0) return undefined
  const stray = said.filter(({ urls }) => urls.some((url) => !known.has(toKey(url))))
  if (stray.length === 0) return undefined
  return conflict(
    [...stray.map(({ pointer }) => pointer), ...pointersOf('url', 'urls', 'sources')],
    'the words name an address that is not among the sources',
  )
}

/** Sources and fallbacks of the fields. */
function explicitUrls(value: ReadonlyMap<ClaimField, unknown>): string[] {
  const sources = (value.get('sources') ?? []) as readonly (
    string | { url: string; fallbacks?: readonly string[] }
  )[]
  return [
    ...(value.has('url') ? [String(value.get('url'))] : []),
    ...((value.get('urls') ?? []) as readonly string[]),
    ...sources.flatMap((source) =>
      typeof source === 'string' ? [source] : [source.url, ...(source.fallbacks ?? [])],
    ),
  ]
}

function prepareJob(
  reading: Reading,
  capability: OutcomeId,
  { isByWords, leftOut }: { readonly isByWords: boolean; readonly leftOut: readonly JobId[] },
): Verdict {
  const { value, said, saidUrls, words, live, pointersOf } = reading
  const use = live.find(({ id }) => id === capability)
  if (!use) return { reason: 'not_live', capability }
  const misplaced = pointersOf(...SOURCE_FIELDS.filter((field) => !use.uses.includes(field)))
  if (misplaced.length > 0)
    return conflict(
      [...pointersOf('capability', ...use.needs), ...misplaced],
      `${capability} has no use for that source`,
    )

  const claims = new Map([...value].filter(([field]) => use.uses.includes(field)))
  const fromWords = new Set<string>()
  const addSaid = (field: ClaimField, found: unknown, isIn: (sentence: Said) => boolean) => {
    if (found === undefined || !use.uses.includes(field) || claims.has(field)) return
    claims.set(field, found)
    for (const sentence of said) if (isIn(sentence)) fromWords.add(sentence.pointer)
  }
  const { limit, query } = saidOptions(said)
  addSaid('limit', limit, (sentence) => sentence.limit === limit)
  addSaid('query', query, (sentence) => sentence.query === query)
  if (explicitUrls(value).length === 0) {
    const hasUrl = ({ urls }: Said) => urls.length > 0
    if (use.uses.includes('urls')) addSaid('urls', saidUrls.length > 0 ? saidUrls : undefined, hasUrl)
    else addSaid('url', saidUrls.length === 1 ? saidUrls[0] : undefined, hasUrl)
  }
  if (use.needs.length > 0 && !use.needs.some((field) => isGiven(claims.get(field))))
    return { reason: 'missing', capability, needs: use.needs, leftOut }
  const sources = readSources(claims)
  const sourcePointers = () => [...pointersOf('url', 'urls', 'sources'), ...fromWords]
  if (!sources.ok && sources.reason === 'too_many')
    return { reason: 'too_many_sources', pointers: sourcePointers() }
  if (!sources.ok) return conflict(sourcePointers(), 'one source has two different fallbacks')

  if (isByWords) for (const { points, pointer } of said) if (points.size > 0) fromWords.add(pointer)
  return {
    ok: true,
    kind: 'capability',
    capability,
    testnet: value.get('testnet') === true,
    claims,
    words,
    readFrom: [...new Set([...pointersOf('capability', ...use.uses), ...fromWords])],
    ignored: pointersOf(
      // A capability that reads no address is free, and has no use for test money.
      ...OPTION_FIELDS.filter((field) => !use.uses.includes(field === 'testnet' ? 'urls' : field)),
      'unused',
    ),
    leftOut,
  }
}

const isGiven = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0)

/** The first sentence that says so. */
const saidOptions = (said: readonly Said[]) => ({
  limit: said.find(({ limit }) => limit !== undefined)?.limit,
  query: said.find(({ query }) => query !== undefined)?.query,
})

function understandingOf(reading: Reading): Understood {
  const { value, said, saidUrls } = reading
  const { limit, query } = saidOptions(said)
  const stated = [value.get('capability') as OutcomeId | undefined, ...said.flatMap(({ named }) => named)]
  return {
    candidates: [...new Set([...stated.filter((id) => id !== undefined), ...judge(reading).candidates])],
    urls: [...new Set([...explicitUrls(value).map(toCanonicalUrl), ...saidUrls])].slice(0, MAX_SOURCES),
    limit: (value.get('limit') as number | undefined) ?? limit,
    query: (value.get('query') as string | undefined) ?? query,
  }
}

const conflict = (pointers: readonly string[], why: string): Refused => ({
  reason: 'conflict',
  pointers: [...new Set(pointers)],
  why,
})

/** The same field said twice with different values. Saying the same thing twice is fine. */
function findContradiction(claims: readonly Claim[]): Refused | undefined {
  const first = new Map<ClaimField, Claim>()
  for (const claim of claims) {
    if (claim.field === 'words' || claim.field === 'unknown_name' || claim.field === 'unused') continue
    const before = first.get(claim.field)
    if (!before) first.set(claim.field, claim)
    else if (toComparable(before) !== toComparable(claim))
      return conflict([before.pointer, claim.pointer], `they give two different values for ${claim.field}`)
  }
  return undefined
}

const toComparable = ({ field, value }: Claim) =>
  field === 'url' ? toKey(String(value)) : JSON.stringify(value)

function shapeOf(value: ReadonlyMap<ClaimField, unknown>): 'html' | 'addresses' | 'both' | undefined {
  const many = value.has('urls') || value.has('sources')
  if (value.has('html')) return many ? 'both' : 'html'
  return many || value.has('url') ? 'addresses' : undefined
}
