// What clients ask for, read as it is meant: scopes with blanks around them or none at all, and this gateway's address in several spellings
// (research of the clients: Claude sends ` offline_access`, Gemini an empty scope, Claude Code the origin with a slash).
import type { Addresses } from '../../core/config.ts'
import { canonicalResource, GATEWAY_SCOPE, toCanonicalResource } from '../../identity/oauth/resource.ts'
import { OPERATOR_SCOPE } from '../../core/authenticate.ts'

const KNOWN = new Set([GATEWAY_SCOPE, OPERATOR_SCOPE, 'offline_access', 'openid'])
/** Parameters of OpenID Connect, which are refused beside scopes of OAuth alone; clients send some of them always. */
const ONLY_WITH_OPENID = ['nonce', 'max_age', 'acr_values', 'claims', 'claims_locales', 'id_token_hint']

export type Asking = 'authorization' | 'device' | 'token'

/** Changes the parameters of a request in place; what means something else stays as it is, and is refused as that. */
export function readAsked(
  params: URLSearchParams,
  asking: Asking,
  addresses: Pick<Addresses, 'baseUrl' | 'mcpUrl'>,
): void {
  const resources = params.getAll('resource')
  if (resources.length > 0) {
    const meant = new Set(resources.map((text) => toCanonicalResource(text, addresses) ?? text))
    params.delete('resource')
    for (const text of meant) params.append('resource', text)
  } else if (asking !== 'token') params.set('resource', canonicalResource(addresses))

  const scopes = params.getAll('scope')
  // Twice is a mistake that the server names.
  if (scopes.length > 1) return
  const known = (scopes[0] ?? '').split(/\s+/).filter((scope) => KNOWN.has(scope))
  if (asking === 'token') {
    if (scopes.length > 0 && known.length === 0) params.delete('scope')
    else if (scopes.length > 0) params.set('scope', known.join(' '))
    return
  }
  const wanted = known.includes(GATEWAY_SCOPE) ? known : [GATEWAY_SCOPE, ...known]
  params.set('scope', wanted.join(' '))
  if (!wanted.includes('openid')) for (const name of ONLY_WITH_OPENID) params.delete(name)
}
