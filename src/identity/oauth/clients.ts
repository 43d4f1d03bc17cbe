// What a client may say of itself, whether it registers (RFC 7591) or publishes a document (draft-ietf-oauth-client-id-metadata-document),
// and how the person who is asked is told who it is.
import { isObject } from '../../lib/json.ts'
import type { AskingClient } from '../ports.ts'

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
export const GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token', DEVICE_GRANT]

/** The client of `agent-gateway login`, which every gateway knows. */
export const CLI_CLIENT_ID = 'agent-gateway-cli'

/** All that counts of what a client says; the rest (logos, contacts, scopes) is nowhere shown or used. */
const KEPT = [
  'client_id',
  'client_name',
  'client_uri',
  'redirect_uris',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
  'token_endpoint_auth_methods_supported',
  'token_endpoint_auth_signing_alg',
  'jwks',
  'jwks_uri',
  // A document that holds one is refused for it.
  'client_secret',
  'client_secret_expires_at',
]
const MAX_NAME_CHARS = 100
const MAX_REDIRECTS = 20
const MAX_REDIRECT_CHARS = 1000

const oneOf =
  (allowed: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'string' && allowed.includes(value)

/**
 * What clients say is read as it is meant: they ask for scopes and grants that other servers know, and call themselves `web` while they
 * wait on loopback. `native` allows loopback on any port and private schemes, and refuses every other `http:` address.
 */
export function readClient(said: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const client: Record<string, unknown> = { application_type: 'native' }
  for (const name of KEPT) if (said[name] !== undefined && said[name] !== null) client[name] = said[name]
  if (typeof client['client_name'] === 'string')
    client['client_name'] = printable(client['client_name']).slice(0, MAX_NAME_CHARS)
  if (client['client_name'] === '') delete client['client_name']
  keepAllowed(client, 'grant_types', oneOf(GRANT_TYPES))
  keepAllowed(client, 'response_types', oneOf(['code']))
  if (typeof client['client_uri'] !== 'string' || !client['client_uri'].startsWith('https://'))
    delete client['client_uri']
  return client
}

/** @returns what is wrong with the addresses that a client wants people sent to; undefined where nothing is */
export function redirectFault({
  redirect_uris: uris,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (!Array.isArray(uris)) return undefined
  if (uris.length > MAX_REDIRECTS) return `redirect_uris may hold at most ${MAX_REDIRECTS} addresses`
  const isLong = uris.some((uri) => typeof uri === 'string' && uri.length > MAX_REDIRECT_CHARS)
  return isLong ? `an address in redirect_uris may have at most ${MAX_REDIRECT_CHARS} characters` : undefined
}

function keepAllowed(client: Record<string, unknown>, name: string, isAllowed: (value: unknown) => boolean) {
  const values = client[name]
  if (!Array.isArray(values)) return
  const kept = values.filter(isAllowed)
  if (kept.length > 0) client[name] = kept
  else delete client[name]
}

/** Characters that change how the text around them is read (direction, lines) are no part of a name. */
const printable = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim()

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** @param redirectUri where the answer goes; undefined where the client waits on another screen */
export function askingClient(
  client: {
    readonly clientId: string
    readonly clientName?: string | undefined
    readonly isFromDocument: boolean
  },
  redirectUri: string | undefined,
): AskingClient {
  const { clientId, isFromDocument } = client
  const target = redirectUri !== undefined && URL.canParse(redirectUri) ? new URL(redirectUri) : undefined
  const isWeb = target !== undefined && /^https?:$/.test(target.protocol)
  return {
    id: clientId,
    name: client.clientName ?? (isFromDocument ? new URL(clientId).host : clientId),
    host: isFromDocument ? new URL(clientId).host : null,
    redirectHost:
      target === undefined ? 'device' : isWeb ? target.host : `${target.protocol}//${target.host}`,
    isLoopback: isWeb && LOOPBACK.has(target.hostname),
  }
}

/** A document as text, read as it is meant; undefined where it is no object at all. */
export function readDocument(text: string): Record<string, unknown> | undefined {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return undefined
  }
  return isObject(said) ? readClient(said) : undefined
}
