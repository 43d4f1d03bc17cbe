// What each kind needs when it is stored: its parts, a key that can be used, an endpoint that may be asked, templates that can be filled.
// An operator learns here what would otherwise fail at an agent's first call.
import { SignJWT } from 'jose'
import type { CredentialKind, KindOf } from '../../../schemas/credential-kinds.ts'
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import { GatewayError } from '../../core/errors.ts'
import { newTokenKey, TOKEN_KEY_PART } from './token-seal.ts'
import { Secret } from '../../lib/secret.ts'
import type { SecretParts } from '../ports.ts'
import { CLIENT_CERTIFICATE, CLIENT_KEY, isTlsPart } from '../reach/tls-identity.ts'
import { parseTarget } from '../target.ts'
import { algorithmOf, type KeyAlgorithm, readPart, readPrivateKey, signJwt } from './key-parts.ts'
import { findTemplateFault } from './hmac-template.ts'
import { isSigning } from './kind.ts'
import { tokenUrlOf } from './token-url.ts'

interface PartRules {
  readonly required: readonly string[]
  readonly optional?: readonly string[]
  readonly public?: readonly string[]
  /** Whether an operator may name further ones. */
  readonly isOpen?: true
}

function partRulesOf(kind: CredentialKind): PartRules {
  switch (kind.type) {
    case 'oauth2_refresh_token':
      return { required: ['refresh_token', ...clientParts(kind)] }
    case 'oauth2_client_credentials':
      return { required: clientParts(kind) }
    case 'oauth2_jwt_bearer':
    case 'github_app':
      return { required: ['private_key'] }
    case 'aws_sigv4':
      return {
        required: ['access_key_id', 'secret_access_key'],
        optional: ['session_token'],
        public: ['access_key_id'],
      }
    case 'hmac':
      return { required: ['key'], isOpen: true }
  }
}

function clientParts({
  client_authentication: how = 'client_secret_basic',
}: KindOf<'oauth2_refresh_token' | 'oauth2_client_credentials'>) {
  if (how === 'none') return []
  return how === 'private_key_jwt' ? ['private_key'] : ['client_secret']
}

export interface KindTargets {
  readonly ports: readonly number[]
}

/** What is sealed and what the settings say of it, once the kind has been asked. */
export interface CompletedParts {
  readonly secret: SecretParts
  readonly settings: CredentialSettings
}

/**
 * Checks what an operator stores, and adds the key that minted tokens are sealed with.
 * @param settings as given; those of a credential whose secret is replaced name its parts already
 * @throws {GatewayError} input_invalid, input_missing_field
 */
export function completeParts(
  given: SecretParts,
  settings: CredentialSettings,
  targets: KindTargets,
): CompletedParts {
  const { kind } = settings
  if (!kind) return { secret: given, settings }
  const { required, optional = [], public: publicNames = [], isOpen = false } = partRulesOf(kind)
  if (given.has(TOKEN_KEY_PART))
    throw refused(`/parts/${TOKEN_KEY_PART}`, 'the gateway makes this key: leave it out')
  const missing = required.find((name) => !given.has(name))
  if (missing !== undefined)
    throw refused(
      `/parts/${missing}`,
      `${kind.type} needs ${list(required)} among its parts`,
      'input_missing_field',
    )
  const stranger = [...given.keys()].find(
    (name) => !isOpen && !required.includes(name) && !optional.includes(name) && !isTlsPart(name),
  )
  if (stranger !== undefined)
    throw refused(
      `/parts/${stranger}`,
      `${kind.type} is made of ${list([...required, ...optional])}: leave this part out`,
    )

  checkMinting(kind, given, targets)
  if (kind.type === 'hmac') checkHmac(kind, given)
  const described = Object.fromEntries(
    [...given.keys()].map((name) => {
      const isPublic =
        publicNames.includes(name) ||
        name === CLIENT_CERTIFICATE ||
        (isOpen && name !== 'key' && name !== CLIENT_KEY && settings.parts?.[name] === 'public')
      return [name, isPublic ? 'public' : 'secret'] as const
    }),
  )
  if (isSigning(kind)) return { secret: given, settings: { ...settings, parts: described } }
  return {
    secret: new Map([...given, [TOKEN_KEY_PART, new Secret(newTokenKey())]]),
    settings: { ...settings, parts: { ...described, [TOKEN_KEY_PART]: 'secret' } },
  }
}

function checkMinting(kind: CredentialKind, parts: SecretParts, { ports }: KindTargets): void {
  if (isSigning(kind)) return
  const target = parseTarget(tokenUrlOf(kind).href, { ports })
  if (!target.ok) throw refused('/settings/kind', `the token endpoint cannot be asked: ${target.detail}`)
  if (!parts.has('private_key')) return
  if (!readPrivateKey(parts))
    throw refused('/parts/private_key', 'this is no private key in PEM form without a passphrase')
}

const KEY_FOR: Record<KeyAlgorithm, string> = {
  RS256: 'an RSA key of 2048 bits or more, which is none for RSA-PSS alone',
  PS256: 'an RSA key of 2048 bits or more, which is none for RSA-PSS alone',
  ES256: 'a key on the curve P-256',
  EdDSA: 'an Ed25519 key',
}

/**
 * Signs with a private key, as an exchange will.
 * @throws {GatewayError} input_invalid where it cannot
 */
export async function checkSigningKey({ kind }: CredentialSettings, parts: SecretParts): Promise<void> {
  if (!kind || isSigning(kind) || !parts.has('private_key')) return
  const alg = algorithmOf(kind)
  if ((await signJwt(new SignJWT(), parts, { alg })) === undefined)
    throw refused('/parts/private_key', `this key cannot sign ${alg}: that takes ${KEY_FOR[alg]}`)
}

function checkHmac(kind: KindOf<'hmac'>, parts: SecretParts): void {
  const { headers = {}, query = {}, prehash, message, key_encoding = 'utf8', key_prefix = '' } = kind
  const partNames = [...parts.keys()].filter((name) => !isTlsPart(name))
  const check = (pointer: string, template: string, without: readonly string[]) => {
    const fault =
      findTemplateFault(template, { partNames, without }) ??
      (pointer.startsWith('headers/') ? findHeaderFault(template, parts) : undefined)
    if (fault !== undefined) throw refused(`/settings/kind/${pointer}`, `the template ${fault}`)
  }
  if (prehash !== undefined) check('prehash', prehash, ['prehash', 'signature'])
  check('message', message, prehash === undefined ? ['prehash', 'signature'] : ['signature'])
  for (const [name, template] of Object.entries(headers)) check(`headers/${name}`, template, [])
  for (const [name, template] of Object.entries(query))
    check(`query/${name}`, template, template.includes('{signature}') ? [] : ['prehash'])
  const places = [...Object.values(headers), ...Object.values(query)]
  if (!places.some((template) => template.includes('{signature}')))
    throw refused('/settings/kind/headers', 'one header or parameter has to carry {signature}')
  const framing = Object.keys(headers).find((name) => FRAMING.has(name))
  if (framing !== undefined)
    throw refused(`/settings/kind/headers/${framing}`, 'the gateway sets this header itself')
  const key = readPart(parts, 'key')
  if (!key.startsWith(key_prefix)) throw refused('/parts/key', `the key does not begin with ${key_prefix}`)
  const encoded = key.slice(key_prefix.length)
  const isIntact =
    key_encoding === 'utf8' ||
    (key_encoding === 'hex' ? /^(?:[0-9a-fA-F]{2})+$/ : /^[A-Za-z0-9+/]+={0,2}$/).test(encoded)
  if (!isIntact) throw refused('/parts/key', `the key is not ${key_encoding}`)
}

/** A header is one line, whatever it is made of. */
function findHeaderFault(template: string, parts: SecretParts): string | undefined {
  if (CONTROL.test(template)) return 'holds a line break or another control character'
  const unfit = [...parts].find(
    ([name, secret]) => template.includes(`{part.${name}}`) && secret.use((text) => CONTROL.test(text)),
  )
  return unfit && `puts the part ${unfit[0]} into a header, and there is a line break in it`
}

const CONTROL = /\p{Cc}/u

/** The header that a signature goes into, as lists show it; undefined where the kind does not sign. */
export function signingHeaderOf({
  kind,
}: CredentialSettings): { readonly header: string; readonly scheme: string } | undefined {
  if (!kind || !isSigning(kind)) return undefined
  if (kind.type === 'aws_sigv4') return { header: 'authorization', scheme: 'AWS4-HMAC-SHA256' }
  const [name = 'authorization'] =
    Object.entries(kind.headers ?? {}).find(([, template]) => template.includes('{signature}')) ?? []
  return { header: name, scheme: '' }
}

const FRAMING = new Set(
  (
    'accept-encoding connection content-encoding content-length expect host idempotency-key keep-alive range te trailer ' +
    'transfer-encoding upgrade'
  ).split(' '),
)

const list = (names: readonly string[]) => names.join(' and ')

function refused(
  pointer: string,
  message: string,
  code: 'input_invalid' | 'input_missing_field' = 'input_invalid',
): GatewayError {
  return new GatewayError(code, `${pointer}: ${message}.`, { extras: { fields: [{ pointer, message }] } })
}
