// What the pages of problems say: each code with its status, its advice, and the tools that the advice names or that answer with it.
import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import type { RegisteredTool, Registry } from '../../core/registry.ts'
import { HELP, sampleProblem } from '../../documents/problems.ts'

export interface ToolLink {
  readonly name: string
  readonly title: string
  /** Path of its page. */
  readonly path: string
}

export const CODES = Object.keys(ERRORS) as readonly ErrorCode[]

export const isCode = (code: string | undefined): code is ErrorCode =>
  code !== undefined && Object.hasOwn(ERRORS, code)

export const linkToTool = ({ tool }: RegisteredTool): ToolLink => ({
  name: tool.name,
  title: tool.title,
  path: `/tools/${tool.name}`,
})

/** A code by itself, as a line of a list. */
export const describeCode = (code: ErrorCode) => ({ code, ...ERRORS[code], what_to_do: HELP[code] })

/** Guides that lead further, where a code belongs to one. */
const GUIDES: readonly (readonly [codes: RegExp, guide: string])[] = [
  [/^(?:payment|settlement|quote|payments|credits|sign_in|no_route)_?/, 'payments'],
  [/^(?:permit|mandate)_/, 'permits'],
  [
    /^(?:capability|credential|scope|target|egress|attempt|outcome_ambiguous|secret|header|upstream)_?/,
    'credential-broker',
  ],
  [/^(?:idempotency)_/, 'credential-broker'],
  [/^(?:seller|service)_/, 'selling'],
  [/^edge_/, 'edge'],
  [/^(?:transaction_blocked|invalid_sample)$/, 'inspection'],
  [/^(?:intent_unknown|outcome_not_live|sources_unusable)$/, 'outcomes'],
  [/^(?:store_unavailable|overloaded|draining|internal|tool_unavailable)$/, 'operating'],
  [/^(?:rate_limited|body_too_large|headers_too_large|calls_spent|budget_spent)$/, 'limits'],
]

/** All that its page says of a code. */
export function problemOf(code: ErrorCode, registry: Registry, baseUrl: string) {
  const guide = GUIDES.find(([codes]) => codes.test(code))?.[1] ?? 'rest'
  return {
    ...describeCode(code),
    next: toolsNamed(HELP[code], registry).map(linkToTool),
    guide,
    example: sampleProblem(code, baseUrl),
    answered_by: registry.tools.filter(({ tool }) => tool.errors.includes(code)).map(linkToTool),
  }
}

/** Tools whose route the advice names: `POST /v1/keys/free`, and `/v1/egress/credentials` for what is read there. */
function toolsNamed(text: string, { tools }: Registry): readonly RegisteredTool[] {
  const named = [...text.matchAll(/(?:(GET|POST) )?(\/[\w./-]*\w)/g)].flatMap(([, method = 'GET', path]) =>
    tools.filter(({ tool }) => tool.rest.some((route) => route.path === path && route.method === method)),
  )
  return [...new Set(named)]
}
