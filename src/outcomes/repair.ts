// A refusal that helps: what was understood, what is nearest, what it costs, and a request that works when sent back
// unchanged, with the caller's own addresses in it where they can be shown.
import { formatAtomic } from '../../schemas/money.ts'
import type { OutcomeId } from '../../schemas/outcome.ts'
import { type ErrorCode, ERRORS, GatewayError } from '../errors.ts'
import type { Claim } from './claims.ts'
import { type CapabilityFacts, descriptors, findDescriptor } from './descriptors.ts'
import type { CapabilityUse } from './ports.ts'
import type { Resolution, Understood } from './resolve.ts'
import { isShowable } from './showable.ts'
import { MAX_SOURCES } from './sources/requested.ts'

const SEND =
  'Send `repair.example` unchanged as the body of POST /v1/execute, or as the arguments of the tool gateway_execute.'
const liveIds = () => descriptors.map(({ id }) => id)
const live = () => liveIds().join(', ')

/**
 * Words are never quoted back, only what they were taken for: capabilities, a limit, a query and addresses that hold no secret.
 * @param uses what the capabilities that run here read of a request
 */
export function toRefusal(
  resolution: Resolution & { ok: false },
  claims: readonly Claim[],
  uses: readonly CapabilityUse[],
): GatewayError {
  const { understood } = resolution
  const refuse = (
    code: ErrorCode,
    detail: string,
    capability: OutcomeId | null,
    options: {
      missing?: readonly string[]
      between?: readonly OutcomeId[]
      pointers?: readonly string[]
    } = {},
  ) => {
    const { missing = [], between, pointers } = options
    const message = code === 'input_missing_field' ? 'Required' : ERRORS[code].title
    const isConflict = code === 'input_conflict' || code === 'input_invalid'
    const nearest = findNearest([capability, ...understood.candidates], understood)
    const example = exampleOf(nearest, isConflict ? NOTHING : understood, uses)
    return new GatewayError(code, `${detail} ${SEND}`, {
      extras: {
        ...(pointers && { fields: pointers.map((pointer) => ({ pointer, message })) }),
        repair: {
          understood: {
            capability,
            candidates: [...understood.candidates],
            sources: understood.urls.filter(isShowable),
            limit: understood.limit ?? null,
            query: understood.query !== undefined && isShowable(understood.query) ? understood.query : null,
            fields: [...new Set(claims.map(({ pointer }) => pointer))].sort(),
          },
          ...(between && { between: [...between] }),
          missing: [...missing],
          nearest: nearest.id,
          live: liveIds(),
          example,
          price: {
            amount_atomic: nearest.amountAtomic.toString(),
            amount: formatAtomic(nearest.amountAtomic),
            currency: 'USDC',
          },
          free_example: { intent: 'demo', capability: nearest.id },
          send: nearest.amountAtomic === 0n ? SEND : `${SEND} ${PAID}`,
        },
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
        `${resolution.pointers.join(' and ')} name more than ${MAX_SOURCES} different sources: send at most ${MAX_SOURCES}.`,
        null,
        { pointers: resolution.pointers },
      )
    case 'not_live':
      return refuse(
        'outcome_not_live',
        `${resolution.capability} is known but does not run on this gateway, so nothing was fetched or charged. ` +
          `Live now: ${live()}.`,
        resolution.capability,
      )
    case 'missing': {
      const { capability, needs } = resolution
      const how = needs.includes('html')
        ? ': send the HTML itself, because it fetches nothing'
        : ': send a public https address; nothing is searched for'
      return refuse('input_missing_field', `${capability} needs ${needs.join(' or ')}${how}.`, capability, {
        missing: needs,
        pointers: needs.map((field) => `/${field}`),
      })
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
        `${why}. This is not a language model: name a capability (${live()}) or send {"intent":"demo"}.`,
        null,
        { between },
      )
    }
  }
}

const PAID =
  'It is answered with 402 and what to pay; nothing is fetched or charged before that. `repair.free_example` is free.'
const NOTHING: Understood = { candidates: [], urls: [], limit: undefined, query: undefined }

/** The most likely one that runs; the free one where nothing is likely. */
function findNearest(ids: readonly (OutcomeId | null)[], { urls }: Understood): CapabilityFacts {
  const likely = ids.flatMap((id) => (id === null ? [] : (findDescriptor(id) ?? [])))[0]
  return likely ?? (urls.length > 0 ? findDescriptor('web-extraction') : undefined) ?? descriptors[0]!
}

/** The descriptor's own example, with the caller's addresses and options where the capability takes them. */
function exampleOf(
  nearest: CapabilityFacts,
  { urls, limit, query }: Understood,
  uses: readonly CapabilityUse[],
): Readonly<Record<string, unknown>> {
  const use = uses.find(({ id }) => id === nearest.id)
  const own = urls.filter((url) => isShowable(url) && url.startsWith('https://'))
  if (!use?.uses.includes('urls') || own.length === 0 || own.length < urls.length) return nearest.example
  return {
    capability: nearest.id,
    urls: own,
    ...(limit !== undefined && use.uses.includes('limit') && { limit }),
    ...(query !== undefined && use.uses.includes('query') && isShowable(query) && { query }),
  }
}
