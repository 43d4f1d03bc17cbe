// Who has to sign in before anything is said: everybody at /mcp/connect, and at /mcp whoever holds an access token that has ended, since a
// client that is shown the list for everybody would never look for its refresh token.
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../core/errors.ts'
import { presentedTokens } from '../http/request.ts'
import type { DoorParts } from '../parts.ts'
import type { Link } from './link.ts'

export const MCP_PATHS = ['/mcp', '/mcp/connect'] as const

/** The address behind a path, which some clients end in a slash; undefined where it is none of this door. */
export const pathOf = (path: string): (typeof MCP_PATHS)[number] | undefined =>
  MCP_PATHS.find((known) => path === known || path === `${known}/`)

const isAccessToken = (bearer: string | undefined): bearer is string => bearer?.startsWith('agw_at_') ?? false

export interface SignIn {
  /** @throws {GatewayError} sign_in_required, capability_invalid, rate_limited: the request has no access token that is good */
  demand(req: IncomingMessage, address: string): Promise<void>
  /** @throws {GatewayError} capability_invalid, rate_limited: it has one that is not */
  refuseExpired(link: Pick<Link, 'tokens' | 'address'>): Promise<void>
}

export function createSignIn({ calls, addresses }: Pick<DoorParts, 'calls' | 'addresses'>): SignIn {
  return {
    async demand(req, address) {
      const { bearer } = presentedTokens(req)
      if (bearer === undefined)
        throw new GatewayError(
          'sign_in_required',
          `This address is for assistants that a person connects: sign in as \`WWW-Authenticate\` says. Without that, use ${addresses.mcpUrl}.`,
        )
      if (!isAccessToken(bearer))
        throw new GatewayError(
          'capability_invalid',
          `This address takes access tokens alone. A capability or a key is for ${addresses.mcpUrl}.`,
        )
      await calls.isKnown({ bearer }, address)
    },
    async refuseExpired({ tokens, address }) {
      if (isAccessToken(tokens.bearer)) await calls.isKnown({ bearer: tokens.bearer }, address)
    },
  }
}
