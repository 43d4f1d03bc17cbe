// The codes that a call of a tool can end in: the ones that its file plans for, those of its price, and those of every call.
import type { CallerKind } from './caller.ts'
import { ERRORS, type ErrorCode } from './errors.ts'
import type { AnyTool, RestRoute } from './tool.ts'

const INPUT: readonly ErrorCode[] = [
  'input_invalid',
  'input_missing_field',
  'input_wrong_type',
  'input_unknown_property',
]
const BODY: readonly ErrorCode[] = [
  'json_invalid',
  'json_too_deep',
  'request_invalid',
  'body_too_large',
  'content_type_unsupported',
]
const ALWAYS: readonly ErrorCode[] = [
  'rate_limited',
  'internal',
  'store_unavailable',
  'overloaded',
  'draining',
  'headers_too_large',
]
/** Whoever works for an account has a role, and an assistant does so only where a person allowed it. */
const ASSISTANTS: readonly ErrorCode[] = ['capability_invalid', 'role_required', 'insufficient_scope']
const BY_CALLER: Readonly<Record<CallerKind, readonly ErrorCode[]>> = {
  // A token is optional, but a wrong one is refused.
  anyone: ['key_invalid', 'capability_invalid', 'role_required'],
  capability: ['capability_required', 'capability_invalid'],
  operator: ['key_required', 'key_invalid', 'operator_required', ...ASSISTANTS],
  admin: ['key_required', 'key_invalid', 'operator_required', 'admin_required', ...ASSISTANTS],
  account: ['key_required', 'key_invalid', 'operator_required', 'capability_invalid', 'role_required'],
  email: ['key_required', 'key_invalid', 'operator_required', 'role_required'],
  seller: ['key_required', 'key_invalid', ...ASSISTANTS],
}
/** How a person's own page is refused: no program has a session. */
const CONSOLE: readonly ErrorCode[] = ['sign_in_required', 'fresh_sign_in_required']

/** Every code the route can answer with, in the order of the table. */
export function errorsOf(tool: AnyTool, route: RestRoute): ErrorCode[] {
  if (tool.passes) return sorted([...tool.errors, ...ALWAYS, 'request_invalid', 'body_too_large'])
  const own = tool.invalidInput
  const codes = new Set<ErrorCode>([
    ...tool.errors,
    ...(own ? [own] : INPUT),
    ...ALWAYS,
    ...BY_CALLER[tool.caller],
  ])
  if (tool.price.kind === 'x402' || (tool.price.kind === 'credits' && tool.price.taken === 'call'))
    codes.add('insufficient_scope')
  if (route.method === 'POST') for (const code of BODY) if (!own || !code.startsWith('json_')) codes.add(code)
  // A caller may repeat what the route says, and nothing else.
  if (route.fixed) codes.add('input_conflict')
  if (route.path.includes('{')) codes.add('request_invalid').add('not_found')
  return sorted(codes)
}

function sorted(codes: Iterable<ErrorCode>): ErrorCode[] {
  const wanted = new Set(codes)
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => wanted.has(code))
}

/** Whether the code is among those of any route of the tool: what no document names, no caller is prepared for. */
export type IsDocumented = (tool: AnyTool, code: ErrorCode) => boolean

/** Each tool's codes are gathered at its first refusal and kept: a 402 asks for every unpaid call (3 us of 35). */
export function createIsDocumented(): IsDocumented {
  const known = new Map<AnyTool, ReadonlySet<ErrorCode>>()
  return (tool, code) => {
    const codes = known.get(tool) ?? new Set(tool.rest.flatMap((route) => errorsOf(tool, route)))
    known.set(tool, codes)
    return codes.has(code) || CONSOLE.includes(code)
  }
}
