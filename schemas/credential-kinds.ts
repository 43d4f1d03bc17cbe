import { z } from 'zod'

// What a stored secret is, where it is more than a text that goes into the request as it is: something that tokens are minted
// from, or a key that signs each request. Nothing in here is secret; the parts of the secret are named beside each kind.

const word = (max = 256) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x21-\x7e]+$/, 'visible ASCII without spaces')
const tokenUrl = z.url({ protocol: /^https$/ }).max(512)
const clientId = word().describe('As the provider registered it')
const scopes = z.array(word(128)).min(1).max(32).describe('Scopes asked for')
const clientAuthentication = z
  .enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'])
  .describe('How the client proves itself at the token endpoint; client_secret_basic by default')
const keyAlgorithm = z.enum(['RS256', 'PS256', 'ES256', 'EdDSA'])
/** Further parameters of the token request; those of the protocol itself are the gateway's. */
const parameters = z.record(
  z
    .string()
    .max(64)
    .regex(/^[a-z][a-z0-9_]*$/),
  z.string().max(512),
)
const template = z.string().min(1).max(1024)

const tokenClient = {
  token_url: tokenUrl.describe('Token endpoint; asked by the gateway alone, never by a fetch'),
  client_id: clientId,
  client_authentication: clientAuthentication.optional(),
  key_algorithm: keyAlgorithm.optional().describe('Of private_key_jwt; RS256 by default'),
  assertion_audience: word(512)
    .optional()
    .describe('Of private_key_jwt: the issuer, where it wants to be named so; the token endpoint by default'),
  key_id: word().optional().describe('`kid` of what it signs'),
  scopes: scopes.optional(),
  parameters: parameters.optional().describe('Such as audience or resource'),
}

export const RefreshTokenKind = z.strictObject({
  type: z.literal('oauth2_refresh_token').describe('Kind'),
  ...tokenClient,
})
export const ClientCredentialsKind = z.strictObject({
  type: z.literal('oauth2_client_credentials').describe('Kind'),
  ...tokenClient,
})
export const JwtBearerKind = z.strictObject({
  type: z.literal('oauth2_jwt_bearer').describe('Kind'),
  token_url: tokenUrl.optional().describe("Google's by default"),
  issuer: word().describe('For Google: `client_email` of the service account'),
  subject: word().optional().describe('Whom it acts for, where the provider allows that'),
  audience: word(512).optional().describe('The token endpoint by default'),
  scopes: scopes.optional(),
  algorithm: keyAlgorithm.optional().describe('RS256 by default'),
  key_id: word().optional().describe('For Google: `private_key_id`'),
})
export const GithubAppKind = z.strictObject({
  type: z.literal('github_app').describe('Kind'),
  app_id: word(64).describe('Id or client id of the app'),
  installation_id: z
    .string()
    .regex(/^\d{1,20}$/)
    .describe('Id of the installation'),
  api_url: tokenUrl.optional().describe('Of GitHub Enterprise Server; https://api.github.com by default'),
  repositories: z.array(word(100)).min(1).max(100).optional().describe('Names; all by default'),
  permissions: z
    .record(
      z
        .string()
        .max(64)
        .regex(/^[a-z_]+$/),
      z.enum(['read', 'write', 'admin']),
    )
    .optional()
    .describe('All that the installation has by default'),
})
export const AwsSigv4Kind = z.strictObject({
  type: z.literal('aws_sigv4').describe('Kind'),
  region: word(64).describe('Such as eu-central-1'),
  service: word(64).describe('Signing name: s3, dynamodb, execute-api, bedrock …'),
})
export const HmacKind = z.strictObject({
  type: z.literal('hmac').describe('Kind'),
  algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).describe('Hash of the HMAC'),
  encoding: z.enum(['hex', 'base64', 'base64url']).describe('Of the signature'),
  key_encoding: z.enum(['utf8', 'hex', 'base64']).optional().describe('Of the part `key`; utf8 by default'),
  key_prefix: word(32).optional().describe('Cut off the key first, such as whsec_'),
  timestamp: z.enum(['seconds', 'milliseconds', 'iso8601']).optional().describe('seconds by default'),
  message: template.describe('What is signed, such as {timestamp}{method}{target}{body}'),
  prehash: template.optional().describe('Hashed with SHA-256; the message holds its bytes as {prehash}'),
  headers: z
    .record(
      z
        .string()
        .max(64)
        .regex(/^[a-z0-9][a-z0-9-]*$/),
      template,
    )
    .optional()
    .describe('Headers that are added, such as {"x-signature": "{signature}"}'),
  query: z
    .record(
      z
        .string()
        .max(64)
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
      template,
    )
    .optional()
    .describe('Parameters that are added; those without {signature} are part of what is signed'),
})

/** What the secret is and how it gets into a request; without one it goes in as it is. */
export const CredentialKind = z.discriminatedUnion('type', [
  RefreshTokenKind,
  ClientCredentialsKind,
  JwtBearerKind,
  GithubAppKind,
  AwsSigv4Kind,
  HmacKind,
])
export type CredentialKind = z.infer<typeof CredentialKind>
export type KindOf<T extends CredentialKind['type']> = Extract<CredentialKind, { type: T }>
