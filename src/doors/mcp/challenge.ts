// Which refusals of a call are the connection's and not the model's: a client that can sign in is told so in HTTP, and signs in.
import type { IncomingMessage } from 'node:http'
import type { CallResult } from '../../core/call.ts'
import type { PresentedTokens } from '../../core/authenticate.ts'
import { toGatewayError } from '../../core/errors.ts'
import type { AnyTool } from '../../core/registry.ts'
import { withTokenArgument } from '../../core/token-argument.ts'
import { bearerChallenge } from '../http/bearer-challenge.ts'
import type { Headers } from '../http/reply.ts'
import type { McpCore } from './core.ts'
import type { Link, Refusal } from './link.ts'

const UNKNOWN = 'This is no token of this gateway.'

type Refused = Extract<CallResult, { ok: false }>

const MISSING: ReadonlySet<string> = new Set(['key_required', 'capability_required'])
const INVALID: ReadonlySet<string> = new Set(['key_invalid', 'capability_invalid'])

/**
 * The refusal that a client has to answer by signing in; undefined where the model can do something about it, as it reads in the result.
 * A token among the arguments is the model's own: it would win over whatever the client signed in to.
 */
export async function challengeOf(
  { parts }: Pick<McpCore, 'parts'>,
  { tokens, address }: Link,
  { tool, input, result }: { readonly tool: AnyTool; readonly input: unknown; readonly result: Refused },
): Promise<Refusal | undefined> {
  const { error, caller } = result
  if (error.code === 'insufficient_scope') return { error }
  // Whoever is known was refused by the tool itself, for what the tool was given.
  if (caller !== undefined || hasToken(withTokenArgument(tool, input, {}))) return undefined
  if (INVALID.has(error.code)) return { error }
  // A key of email verification costs nothing and is no business of anybody's account.
  if (!MISSING.has(error.code) || tool.caller === 'email') return undefined
  if (!hasToken(tokens)) return { error }
  try {
    // A good token of another kind: signing in would take it away, and the result says which one the tool takes.
    return (await parts.calls.isKnown(tokens, address)) ? undefined : { error, invalid: UNKNOWN }
  } catch (thrown) {
    const refused = toGatewayError(thrown)
    return INVALID.has(refused.code) ? { error, invalid: refused.message } : undefined
  }
}

const hasToken = (tokens: PresentedTokens) => Object.values(tokens).some((token) => token !== undefined)

/** How to sign in at the address that the client is connected to. */
export const challengeHeaders = (
  { parts: { addresses } }: Pick<McpCore, 'parts'>,
  { error, invalid }: Refusal,
  at: { readonly headers: IncomingMessage['headers']; readonly path: Link['path'] },
): Headers => bearerChallenge(error, { req: at, path: at.path ?? '/mcp', addresses, invalid })
