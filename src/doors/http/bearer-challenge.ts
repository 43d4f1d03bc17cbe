// `WWW-Authenticate: Bearer` for clients that can sign in by themselves: where they find out how (RFC 9728, section 5.1), and what was
// wrong with what they sent (RFC 6750, section 3).
import type { IncomingMessage } from 'node:http'
import { GATEWAY_SCOPE, OPERATOR_SCOPE } from '../../core/authenticate.ts'
import type { Addresses } from '../../core/config.ts'
import type { ErrorCode, GatewayError } from '../../core/errors.ts'
import type { Headers } from './reply.ts'
import { asAsked } from './own-name.ts'

/** What a client is connected to, as a path behind the gateway's address. */
export type ProtectedPath = '/mcp' | '/mcp/connect' | '/a2a'

const CODES: ReadonlySet<ErrorCode> = new Set([
  'key_required',
  'key_invalid',
  'capability_required',
  'capability_invalid',
  'sign_in_required',
  'insufficient_scope',
] satisfies ErrorCode[])

/** Whether a refusal is about who calls, and not about what else was shown, such as a permit. */
export const isAboutSignIn = ({ code }: GatewayError): boolean => CODES.has(code)

/**
 * The header of a 401, or of a 403 with `insufficient_scope`.
 * @param error of authentication; `*_required` says that nothing was sent, everything else that it was no good
 * @param at.invalid what is wrong with a token that was sent where another one is required
 */
export function bearerChallenge(
  error: GatewayError,
  at: {
    readonly req: Pick<IncomingMessage, 'headers'>
    readonly path: ProtectedPath
    readonly addresses: Pick<Addresses, 'baseUrl'>
    readonly invalid?: string | undefined
  },
): Headers {
  const metadata = asAsked(`${at.addresses.baseUrl}/.well-known/oauth-protected-resource${at.path}`, at.req)
  const scope = error.code === 'insufficient_scope' ? scopeOf(error) : GATEWAY_SCOPE
  const parts = [...problemOf(error, at.invalid), `resource_metadata="${metadata}"`, `scope="${scope}"`]
  return { 'www-authenticate': `Bearer ${parts.join(', ')}` }
}

/** RFC 6750, section 3.1: who sent nothing is not told of an error. */
function problemOf({ code, message }: GatewayError, invalid?: string): readonly string[] {
  const described = `error_description="${(invalid ?? message).replaceAll(/[^ !#-[\]-~]/g, "'")}"`
  if (code === 'insufficient_scope') return ['error="insufficient_scope"', described]
  return code.endsWith('_required') && invalid === undefined ? [] : ['error="invalid_token"', described]
}

/** One challenge names all that is needed, since a client asks for no more than it says. */
function scopeOf({ extras }: GatewayError): string {
  const { scope } = extras
  return typeof scope === 'string' && /^[\w: .-]+$/.test(scope) ? scope : `${GATEWAY_SCOPE} ${OPERATOR_SCOPE}`
}
