// A caller's idempotency key may stand beside the input (a header at every door, `_meta` over MCP, metadata over A2A) or in it. Here
// they become one; what a key means is decided by the tool that takes it.
import { z } from 'zod'
import { GatewayError } from './errors.ts'
import { isObject } from '../lib/json.ts'
import type { AnyTool } from './tool.ts'

const MEMBER = 'idempotency_key'

/** The name of the key in the metadata of MCP and A2A messages. */
export const IDEMPOTENCY_KEY_META = 'idempotency-key'

/** Whether a key that stands beside the input is a member of it. */
export const takesIdempotencyKey = ({ input }: Pick<AnyTool, 'input'>): boolean =>
  input instanceof z.ZodObject && MEMBER in input.shape

/** Stands for keys that should be one and are not. */
const KEYS_DIFFER = Symbol('keys that differ')

/**
 * The one key of all places beside the input where it may stand, unjudged; undefined where there is none. The header comes from whoever
 * made the connection and the metadata from whoever wrote the message: neither may replace the other's, so keys that differ are refused.
 */
export function oneKey(...presented: readonly unknown[]): unknown {
  const [first, ...others] = presented.filter((key) => key !== undefined)
  return others.every((key) => key === first) ? first : KEYS_DIFFER
}

const keysDiffer = () =>
  new GatewayError(
    'input_conflict',
    'The header Idempotency-Key and the key in the metadata differ, or two keys in the metadata do. Send one of them.',
    { extras: { fields: [{ pointer: `/${MEMBER}`, message: 'is given twice, with different values' }] } },
  )

const noKey = () =>
  new GatewayError(
    'input_wrong_type',
    `/${MEMBER}: the key beside the input is null. Leave it out, or send a UUID.`,
    {
      extras: { fields: [{ pointer: `/${MEMBER}`, message: 'is null' }] },
    },
  )

/** What a key is made of: printable ASCII without spaces. */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/

/**
 * The key of a call that is paid with x402, whatever its tool: there it names the payment's request, and is no member of the input.
 * @throws {GatewayError} input_invalid, input_conflict
 */
export function paidIdempotencyKey(presented: unknown): string | undefined {
  if (presented === undefined) return undefined
  if (presented === KEYS_DIFFER) throw keysDiffer()
  if (typeof presented === 'string' && IDEMPOTENCY_KEY.test(presented)) return presented
  throw new GatewayError(
    'input_invalid',
    'The idempotency key must be 1 to 255 printable ASCII characters without spaces: send a UUID.',
  )
}

/**
 * @param presented as the door found it, unjudged; undefined where there is none
 * @param nullIsAbsent whether null in the input is how its sender leaves the key out
 * @returns the input with the key as its member, where the tool takes one; the schema judges it there
 * @throws {GatewayError} input_wrong_type where it is null; input_conflict where the input names another key, or two different ones
 * stand beside it
 */
export function withIdempotencyKey(
  tool: AnyTool,
  input: unknown,
  presented: unknown,
  nullIsAbsent = false,
): unknown {
  if (presented === undefined || !isObject(input) || !takesIdempotencyKey(tool)) return input
  if (presented === KEYS_DIFFER) throw keysDiffer()
  // Null in the input may be how a member is left out; where a key stands, it is one that would be lost, and the work done twice.
  if (presented === null) throw noKey()
  const member = input[MEMBER]
  const isLeftOut = member === undefined || (member === null && nullIsAbsent)
  if (!isLeftOut && member !== presented)
    throw new GatewayError(
      'input_conflict',
      'The idempotency key beside the input and `idempotency_key` in it differ. Send one of them.',
      { extras: { fields: [{ pointer: `/${MEMBER}`, message: 'differs from the key beside the input' }] } },
    )
  return { ...input, [MEMBER]: presented }
}
