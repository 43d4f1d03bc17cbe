// Writes a refusal that helps: what was understood, what is nearest, what it costs, and a request that works when sent back
// unchanged, with the caller's own addresses in it where they can be shown.
import { formatAtomic } from '../../schemas/money.ts'
import type { OutcomeId } from '../../schemas/outcome.ts'
import { type ErrorCode, ERRORS, GatewayError } from '../core/errors.ts'
import type { Claim, ClaimField } from './claims.ts'
import type { CapabilityFacts } from './descriptors.ts'
import { type JobId, jobOf } from './intents/jobs.ts'
import type { CapabilityUse } from './ports.ts'
import type { Resolution, Understood } from './resolve.ts'
import { isShowable } from './showable.ts'
import { requestedSources } from './sources/requested.ts'
import { MAX_SOURCES } from './limits.ts'
import { must } from '../lib/must.ts'

const SEND =
  'Send `repair.example` unchanged to gateway_execute, or over A2A as the `input` of the skill `repair.nearest`.'

/** The capabilities that run here: what is said of each, what it reads of a request, and where it may go. */
export interface Live {
  readonly descriptors: readonly CapabilityFacts[]
  readonly uses: readonly CapabilityUse[]
  /** False for an address that is refused whatever is found there. */
  readonly isTarget: (url: string) => boolean
}

/** The content of a refusal. */
interface Guidance {
  readonly capability: OutcomeId | null
  readonly understood: Understood
  readonly claims: readonly Claim[]
  readonly missing?: readonly string[]
  readonly between?: readonly OutcomeId[]
  /** Jobs that were asked for and are not done here. */
  readonly undone?: readonly JobId[]
  /** An example takes no side. */
  readonly isConflict?: boolean
}

/** Words are never quoted back, only what they were taken for: capabilities, a limit, a query, addresses without secrets. */
export function toRefusal(
  resolution: Resolution & { ok: false },
  claims: readonly Claim[],
  live: Live,
): GatewayError {
  const listed = live.descriptors.map(({ id }) => id).join(', ')
  const { understood } = resolution
  const refuse = (
    code: ErrorCode,
    detail: string,
    capability: OutcomeId | null,
    options: {
      missing?: readonly string[]
      between?: readonly OutcomeId[]
      undone?: readonly JobId[]
      pointers?: readonly string[]
      /** The message of each pointer. */
      message?: string
    } = {},
  ) => {
    const { missing = [], between, undone = [], pointers } = options
    const message = options.message ?? (code === 'input_missing_field' ? 'Required' : ERRORS[code].title)
    const isConflict = code === 'input_conflict' || code === 'input_invalid'
    return new GatewayError(code, `${detail} ${SEND}`, {
      extras: {
        ...(pointers && { fields: pointers.map((pointer) => ({ pointer, message })) }),
        repair: toRepair(
          { capability, understood, claims, missing, ...(between && { between }), undone, isConflict },
          live,
        ),
      },
    })
  }

  switch (resolution.reason) {
    case 'conflict': {
      const places = resolution.pointers.join(' and ')
      return refuse('input_conflict', `${places} contradict each other: ${resolution.why}. Keep one.`, null, {
        pointers: resolution.pointers,
      })
    }
    case 'too_many_sources':
      return refuse(
        'input_invalid',
        `${resolution.pointers.join(' and ')}: more than ${MAX_SOURCES} different sources. Send at most ${MAX_SOURCES}.`,
        null,
        {
          pointers: resolution.pointers,
          message: `Too many: at most ${MAX_SOURCES} different sources in one request`,
        },
      )
    case 'not_live':
      return refuse(
        'outcome_not_live',
        `${resolution.capability} is known but does not run on this gateway, so nothing was fetched or charged. ` +
          `Live now: ${listed}.`,
        resolution.capability,
      )
    case 'not_done': {
      const { jobs } = resolution
      return refuse(
        'intent_unknown',
        `${jobs.map(tellUndone).join(' ')} Nothing was fetched or charged. \`repair.nearest\` is the job that comes nearest.`,
        null,
        { undone: jobs },
      )
    }
    case 'missing': {
      const { capability, needs, leftOut } = resolution
      const rest = leftOut.length === 0 ? '' : ` ${leftOut.map(tellUndone).join(' ')}`
      const how = needs.includes('html')
        ? ': send the HTML itself, because it fetches nothing'
        : ': send a public https address; nothing is searched for'
      return refuse(
        'input_missing_field',
        `${capability} needs ${needs.join(' or ')}${how}.${rest}`,
        capability,
        {
          missing: needs,
          undone: leftOut,
          pointers: needs.map((field) => `/${field}`),
        },
      )
    }
    case 'unknown': {
      const { unknownNames, between } = resolution
      const why =
        unknownNames.length > 0
          ? `${unknownNames.join(' and ')} names nothing that runs here`
          : between.length > 1
            ? `It could be ${between.join(' or ')}`
            : 'No job that runs here was recognised in the request'
      return refuse(
        'intent_unknown',
        `${why}. This is not a language model: name a capability (${listed}) or send {"intent":"demo"}.`,
        null,
        { between },
      )
    }
  }
}

/** The same for a request of which a part had to be left out: what is left may well be a job. */
export function toGuidance(
  resolution: Resolution,
  claims: readonly Claim[],
  live: Live,
): Record<string, unknown> {
  if (!resolution.ok)
    return must(toRefusal(resolution, claims, live).extras.repair, 'the repair of a refusal')
  const { capability, claims: used } = resolution
  const understood: Understood = {
    candidates: [capability],
    urls: requestedSources(used).map(({ url }) => url),
    limit: used.get('limit') as number | undefined,
    query: used.get('query') as string | undefined,
  }
  return toRepair({ capability, understood, claims }, live)
}

/** "Translation is not done here. Nothing is translated: …" */
export const tellUndone = (id: JobId): string => `${jobOf(id).name} is not done here. ${jobOf(id).why}`

/** Jobs that are not done, as members of an answer. */
export const listUndone = (jobs: readonly JobId[]) =>
  jobs.map((job) => ({ job, name: jobOf(job).name, why: jobOf(job).why, nearest: jobOf(job).nearest }))

/** What the words are about comes nearer than what is said of the job in general, unless that is one of few. */
const nearestTo = (jobs: readonly JobId[], { candidates }: Understood): readonly OutcomeId[] => {
  const nearest = jobs.map((job) => jobOf(job).nearest)
  const special = nearest.filter((id) => id !== 'web-extraction')
  return [...special, ...candidates.filter((id) => id !== 'extract-preview'), ...nearest]
}

function toRepair(guidance: Guidance, live: Live): Record<string, unknown> {
  const { capability, understood, claims, missing = [], between, undone = [], isConflict = false } = guidance
  const likely = undone.length > 0 ? nearestTo(undone, understood) : understood.candidates
  const nearest = findNearest([capability, ...likely], understood, live)
  const example = exampleOf(nearest, isConflict ? NOTHING : understood, live)
  return {
    understood: {
      capability,
      candidates: [...understood.candidates],
      sources: understood.urls.filter(isShowable),
      limit: understood.limit ?? null,
      query: understood.query !== undefined && isShowable(understood.query) ? understood.query : null,
      fields: [...new Set(claims.map(({ pointer }) => pointer))].sort(),
    },
    ...(between && { between: [...between] }),
    ...(undone.length > 0 && { not_done: listUndone(undone) }),
    missing: [...missing],
    nearest: nearest.id,
    live: live.descriptors.map(({ id }) => id),
    example,
    price: {
      amount_atomic: nearest.amountAtomic.toString(),
      amount: formatAtomic(nearest.amountAtomic),
      currency: 'USDC',
    },
    free_example: { intent: 'demo', capability: nearest.id },
    send: nearest.amountAtomic === 0n || isDemo(example) ? SEND : `${SEND} ${PAID}`,
  }
}

const PAID =
  'It is answered with 402 and what to pay; nothing is fetched or charged before that. `repair.free_example` is free.'
const NOTHING: Understood = { candidates: [], urls: [], limit: undefined, query: undefined }

/** A production gateway without a page to show has the demo for an example. */
const isDemo = (example: Readonly<Record<string, unknown>>) => example['intent'] === 'demo'

/** The most likely one that runs; the free one where nothing is likely. */
function findNearest(
  ids: readonly (OutcomeId | null)[],
  { urls }: Understood,
  { descriptors }: Live,
): CapabilityFacts {
  const find = (id: OutcomeId | null) => descriptors.find((facts) => facts.id === id)
  const likely = ids.flatMap((id) => find(id) ?? [])[0]
  return (
    likely ??
    (urls.length > 0 ? find('web-extraction') : undefined) ??
    must(descriptors[0], 'a capability that runs here')
  )
}

/** The descriptor's own example, or one with the caller's addresses and options where the capability takes them. */
function exampleOf(
  nearest: CapabilityFacts,
  { urls, limit, query }: Understood,
  { uses, isTarget }: Live,
): Readonly<Record<string, unknown>> {
  const takes = (field: ClaimField) => uses.some((use) => use.id === nearest.id && use.uses.includes(field))
  const isOwn = urls.length > 0 && urls.every((url) => isTarget(url) && isShowable(url))
  if (!takes('urls') || !isOwn) return nearest.example
  return {
    capability: nearest.id,
    urls: [...urls],
    ...(limit !== undefined && takes('limit') && { limit }),
    ...(query !== undefined && takes('query') && isShowable(query) && { query }),
  }
}
