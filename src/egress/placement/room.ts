// Whether a request leaves room for the secrets that go into it, asked before anything is charged. What a caller could say in their
// place is refused: two values of one name, and the upstream would choose between them.
import type { Placement } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { decodeUtf8 } from '../../lib/utf8.ts'
import type { HeaderPairs } from '../headers.ts'
import { MAX_PLACED_BYTES, MAX_PLACED_ITEMS } from './body-bounds.ts'
import { holdsMoreFields, mayHoldField } from './form-body.ts'
import { findJsonRoom } from './json-body.ts'

/** What is looked at of a request (request.ts). */
interface Asked {
  readonly target: { readonly url: URL; readonly path: string }
  readonly method: string
  readonly headers: HeaderPairs
  readonly body: Buffer | undefined
}

/** @throws {GatewayError} target_invalid, input_invalid, body_too_large: each says what to leave out or to send instead */
export function checkRoom(request: Asked, placements: readonly Placement[]): void {
  const pointers: string[] = []
  for (const placement of placements) {
    switch (placement.in) {
      case 'query':
        if (mayHoldField(Buffer.from(request.target.url.search.slice(1)), placement.name))
          throw badTarget(
            `Leave the query parameter "${placement.name}" out: the gateway adds the credential in it.`,
          )
        break
      case 'path':
        if (placement.at > segmentCount(request.target.path))
          throw badTarget(
            `The gateway adds the credential as segment ${placement.at + 1} of the path: give the ${placement.at} before it.`,
          )
        break
      case 'form':
        checkBody(request, 'application/x-www-form-urlencoded')
        checkField(request.body, placement.name)
        break
      case 'json':
        pointers.push(placement.pointer)
        break
      // No caller may send the header of a placement, nor its cookie (headers.ts, settings.ts, relay/cookies.ts).
      case 'header':
      case 'cookie':
        break
    }
  }
  if (pointers.length === 0) return
  checkBody(request, 'application/json')
  checkMembers(request.body, pointers)
}

/** Behind a slash at the end there is none yet: one after it would leave an empty segment in between. */
const segmentCount = (path: string) =>
  path
    .slice(1)
    .split('/')
    .filter((segment) => segment !== '').length

function checkBody({ method, body, headers }: Asked, type: string): void {
  if (method === 'GET' || method === 'HEAD')
    throw badInput(
      '/method',
      `the gateway adds the credential to the body, and a ${method} request has none: use POST`,
    )
  if (body === undefined) return
  const given = headers.find(([name]) => name === 'content-type')?.[1]
  const media = given?.split(';')[0]?.trim().toLowerCase()
  const isJson = type === 'application/json' && media?.endsWith('+json') === true
  if (media === type || isJson) return
  throw badInput('/headers', `the gateway adds the credential to the body: send it as content-type ${type}`)
}

function checkField(body: Buffer | undefined, name: string): void {
  if (body === undefined) return
  checkLength(body, 'form')
  if (holdsMoreFields(body, MAX_PLACED_ITEMS)) throw tooMany('form', `${MAX_PLACED_ITEMS} fields`)
  const text = decodeUtf8(body)
  if (text === undefined || /[\r\n]/.test(text))
    throw badInput('/body', 'it is no form, to which the gateway could add the credential')
  if (mayHoldField(body, name))
    throw badInput('/body', `leave the field ${name} out: the gateway adds the credential in it`)
}

function checkMembers(body: Buffer | undefined, pointers: readonly string[]): void {
  if (body) checkLength(body, 'JSON body')
  const room = findJsonRoom(body, pointers)
  if (room.ok) return
  if (room.reason === 'too_many_items')
    throw tooMany('JSON body', `${MAX_PLACED_ITEMS} members, objects and lists`)
  throw badInput('/body', JSON_WORDS[room.reason](room.pointer))
}

function checkLength({ length }: Buffer, what: string): void {
  if (length > MAX_PLACED_BYTES)
    throw new GatewayError(
      'body_too_large',
      `The gateway adds the credential to the ${what}: send at most ${MAX_PLACED_BYTES} bytes of it.`,
      { extras: { max_bytes: MAX_PLACED_BYTES } },
    )
}

const tooMany = (what: string, most: string) =>
  new GatewayError(
    'body_too_large',
    `The gateway adds the credential to the ${what}: send at most ${most} in it.`,
  )

const JSON_WORDS = {
  not_an_object: (pointer: string) =>
    `send a JSON object, nested at most 512 deep: the gateway adds the credential to it at ${pointer}`,
  repeated_member: (pointer: string) =>
    `name each member once: the gateway adds the credential at ${pointer}, and servers disagree on which of two they read`,
  member_exists: (pointer: string) => `leave ${pointer} out: the gateway adds the credential there`,
  parent_not_an_object: (pointer: string) =>
    `what holds ${pointer} has to be an object, or left out: the gateway adds the credential there`,
}

const badTarget = (detail: string) =>
  new GatewayError('target_invalid', detail, { reason: 'credential_placement' })

const badInput = (pointer: string, message: string) =>
  new GatewayError('input_invalid', `${pointer}: ${message}.`, {
    reason: 'credential_placement',
    extras: { fields: [{ pointer, message }] },
  })
