// What each kind of credential is asked for: the members of its settings, and the parts of its secret. Names are the gateway's; their
// words are in texts/credentials.ts.
import type { CredentialKind } from '../../../../schemas/credential-kinds.ts'

export type KindName = 'text' | 'texts' | CredentialKind['type']

/** How a member of a kind is typed. `pairs`: a `name=value` a line. */
type KindInput = 'line' | 'words' | 'pairs' | 'choice' | 'area'

export interface KindField {
  readonly name: string
  readonly input: KindInput
  readonly isRequired?: true
  /** Of a choice; without one chosen, the gateway's default holds. */
  readonly options?: readonly string[]
}

export interface KindPart {
  readonly name: string
  readonly isRequired?: true
  /** A key file. */
  readonly hasLines?: true
  /** It may be shown: an id beside its key. */
  readonly isPublic?: true
}

interface KindForm {
  readonly fields: readonly KindField[]
  readonly parts: readonly KindPart[]
}

const line = (name: string): KindField => ({ name, input: 'line' })
const needed = (name: string): KindField => ({ name, input: 'line', isRequired: true })
const choice = (name: string, ...options: string[]): KindField => ({ name, input: 'choice', options })

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
const TOKEN_CLIENT: readonly KindField[] = [
  needed('token_url'),
  needed('client_id'),
  choice('client_authentication', 'client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'),
  { name: 'scopes', input: 'words' },
  { name: 'parameters', input: 'pairs' },
  choice('key_algorithm', ...ALGORITHMS),
  line('key_id'),
  line('assertion_audience'),
]
const CLIENT_PARTS: readonly KindPart[] = [{ name: 'client_secret' }, { name: 'private_key', hasLines: true }]

export const KIND_FORMS: Readonly<Record<Exclude<KindName, 'text' | 'texts'>, KindForm>> = {
  oauth2_refresh_token: {
    fields: TOKEN_CLIENT,
    parts: [{ name: 'refresh_token', isRequired: true }, ...CLIENT_PARTS],
  },
  oauth2_client_credentials: { fields: TOKEN_CLIENT, parts: CLIENT_PARTS },
  oauth2_jwt_bearer: {
    fields: [
      needed('issuer'),
      line('subject'),
      { name: 'scopes', input: 'words' },
      line('token_url'),
      line('audience'),
      choice('algorithm', ...ALGORITHMS),
      line('key_id'),
    ],
    parts: [{ name: 'private_key', isRequired: true, hasLines: true }],
  },
  github_app: {
    fields: [
      needed('app_id'),
      needed('installation_id'),
      { name: 'repositories', input: 'words' },
      { name: 'permissions', input: 'pairs' },
      line('api_url'),
    ],
    parts: [{ name: 'private_key', isRequired: true, hasLines: true }],
  },
  aws_sigv4: {
    fields: [needed('region'), needed('service')],
    parts: [
      { name: 'access_key_id', isRequired: true, isPublic: true },
      { name: 'secret_access_key', isRequired: true },
      { name: 'session_token' },
    ],
  },
  hmac: {
    fields: [
      { ...choice('algorithm', 'sha256', 'sha1', 'sha384', 'sha512'), isRequired: true },
      { ...choice('encoding', 'hex', 'base64', 'base64url'), isRequired: true },
      { name: 'message', input: 'area', isRequired: true },
      { name: 'headers', input: 'pairs' },
      { name: 'query', input: 'pairs' },
      choice('timestamp', 'seconds', 'milliseconds', 'iso8601'),
      { name: 'prehash', input: 'area' },
      choice('key_encoding', 'utf8', 'hex', 'base64'),
      line('key_prefix'),
    ],
    parts: [{ name: 'key', isRequired: true }],
  },
}

/** In the order in which they are offered. */
export const KINDS: readonly KindName[] = [
  'text',
  'texts',
  'oauth2_refresh_token',
  'oauth2_client_credentials',
  'oauth2_jwt_bearer',
  'github_app',
  'aws_sigv4',
  'hmac',
]

/** A provider that takes several texts takes nothing else; one that has its places takes no signature, which has its own. */
export function kindsOf(provider: {
  readonly id: string
  readonly parts?: Readonly<Record<string, string>> | undefined
}): readonly KindName[] {
  if (provider.parts) return ['texts']
  return provider.id === 'custom' ? KINDS : KINDS.filter((kind) => kind !== 'texts')
}

/** The gateway makes this part itself (egress/kinds/token-seal.ts). */
export const TOKEN_KEY_PART = 'token_key'

/** What the secret of a stored credential is, by what its settings say. */
export function kindOf(settings: Readonly<Record<string, unknown>>): string {
  const { kind, parts } = settings as { kind?: { type?: string }; parts?: object }
  return kind?.type ?? (parts ? 'texts' : 'text')
}

export const isKind = (text: string | null): text is KindName => KINDS.some((kind) => kind === text)
