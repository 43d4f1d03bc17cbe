// Where clients find out who gives tokens for this gateway (RFC 9728). They look in several places, each for the address they were given.
import type { IncomingMessage } from 'node:http'
import type { Addresses } from '../../core/config.ts'
import { OPERATOR_SCOPE } from '../../core/authenticate.ts'
import { GATEWAY_SCOPE, isSameHost } from '../../identity/oauth/resource.ts'

/** The paths that a client may have been given. */
const RESOURCES: readonly string[] = ['', '/mcp', '/mcp/connect', '/a2a', '/v1']

export type MetadataName = 'oauth-protected-resource' | 'oauth-authorization-server' | 'openid-configuration'
const NAMES: readonly MetadataName[] = [
  'oauth-protected-resource',
  'oauth-authorization-server',
  'openid-configuration',
]

/** Every address of a document: `/.well-known/NAME`, with the path behind it, and behind the path. */
const PATHS: ReadonlyMap<string, { name: MetadataName; resource: string }> = new Map(
  NAMES.flatMap((name) =>
    RESOURCES.flatMap((resource) =>
      [
        `/.well-known/${name}${resource}`,
        `/.well-known/${name}${resource}/`,
        `${resource}/.well-known/${name}`,
      ].map((path) => [path, { name, resource }] as const),
    ),
  ),
)

/** Which document is at a path; undefined where it is none of these. */
export const metadataAt = (path: string) => PATHS.get(path)

/**
 * The document of a resource. Clients compare its address with the one they were given, so on loopback it answers to the name that it
 * was asked by; everywhere else no Host of a stranger counts.
 */
export function protectedResource(
  { headers: { host } }: Pick<IncomingMessage, 'headers'>,
  resource: string,
  { baseUrl, mcpUrl, siteUrl }: Addresses,
): Readonly<Record<string, unknown>> {
  const own = resource === '' || resource === '/mcp' ? mcpUrl : `${baseUrl}${resource}`
  const url = resource === '/mcp/connect' ? `${mcpUrl}/connect` : own
  return {
    resource: onHost(url, host),
    authorization_servers: [baseUrl],
    scopes_supported: [GATEWAY_SCOPE, OPERATOR_SCOPE],
    bearer_methods_supported: ['header'],
    resource_name: 'Agent Gateway',
    resource_documentation: `${siteUrl}/docs`,
  }
}

function onHost(url: string, host: string | undefined): string {
  const own = new URL(url)
  if (host === undefined || !URL.canParse(`${own.protocol}//${host}`)) return url
  const asked = new URL(`${own.protocol}//${host}`)
  return isSameHost(asked, own) && asked.host !== own.host ? url.replace(own.host, asked.host) : url
}
