// A refusal that helps: what was understood, what is nearest, and a request that works when sent back unchanged.
import { ERRORS, GatewayError } from '../errors.ts'
import type { Claim } from './claims.ts'
import { descriptors, findDescriptor } from './descriptors.ts'
import type { Resolution } from './resolve.ts'

const SEND =
  'Send `repair.example` unchanged as the body of POST /v1/execute, or as the arguments of the tool gateway_execute.'
const liveIds = () => descriptors.map(({ id }) => id)
const live = () => liveIds().join(', ')

/** Values are never quoted back, only which fields were read and what they were taken for. */
export function toRefusal(resolution: Resolution & { ok: false }, claims: readonly Claim[]): GatewayError {
  const fields = [...new Set(claims.map(({ pointer }) => pointer))].sort()
  const repair = (capability: string | null, missing: readonly string[] = []) => {
    const nearest = (capability === null ? undefined : findDescriptor(capability)) ?? descriptors[0]!
    return {
      understood: { capability, fields },
      missing: [...missing],
      nearest: nearest.id,
      live: liveIds(),
      example: nearest.example,
      send: SEND,
    }
  }
  switch (resolution.reason) {
    case 'conflict': {
      const places = resolution.pointers.join(' and ')
      return new GatewayError(
        'input_conflict',
        `${places} contradict each other: ${resolution.why}. Keep one.`,
        {
          extras: {
            fields: resolution.pointers.map((pointer) => ({ pointer, message: ERRORS.input_conflict.title })),
            repair: repair(null),
          },
        },
      )
    }
    case 'not_live':
      return new GatewayError(
        'outcome_not_live',
        `${resolution.capability} is known but does not run on this gateway yet, so nothing was fetched or charged. ` +
          `Live now: ${live()}. ${SEND}`,
        { extras: { repair: repair(resolution.capability) } },
      )
    case 'missing':
      return new GatewayError(
        'input_missing_field',
        `${resolution.capability} needs ${resolution.needs.join(' or ')}` +
          `${resolution.needs.includes('html') ? ': send the HTML itself, because it fetches nothing' : ''}. ${SEND}`,
        {
          extras: {
            fields: resolution.needs.map((field) => ({ pointer: `/${field}`, message: 'Required' })),
            repair: repair(resolution.capability, resolution.needs),
          },
        },
      )
    case 'unknown': {
      const why =
        resolution.unknownNames.length > 0
          ? `${resolution.unknownNames.join(' and ')} names nothing that runs here`
          : resolution.between.length > 1
            ? `It could be ${resolution.between.join(' or ')}`
            : 'No job was recognised in the request'
      return new GatewayError(
        'intent_unknown',
        `${why}. This is not a language model: name a capability (${live()}) or send {"intent":"demo"}. ${SEND}`,
        { extras: { repair: { ...repair(null), between: [...resolution.between] } } },
      )
    }
  }
}
