// Whether consent records can be trusted, and what they have to name.
import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import { isLoopbackHost } from '../addresses.ts'
import { type Check, ok, warn } from './finding.ts'

/** Says which name consent records carry and how many resolvers have to agree. */
export const checkEdge: Check = async ({ config, running }) => {
  const address = config.baseUrl ?? running?.url
  const name = config.edgeName ?? (address === undefined ? undefined : new URL(address).hostname)
  const resolvers = new Set(config.dnsServers.length > 0 ? config.dnsServers : getServers()).size
  const says = `consent records name gw=${name ?? config.host}; ${resolvers} resolver${resolvers === 1 ? '' : 's'} must agree`
  // A sandbox forwards to its own sample site.
  if (config.mode === 'sandbox') return [ok('edge', says)]
  const bare = (name ?? config.host).replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0 || isLoopbackHost(bare))
    return [
      warn(
        'edge',
        says,
        'Set GATEWAY_EDGE_NAME (or GATEWAY_BASE_URL) to a name of this gateway: an address is nothing to consent to.',
      ),
    ]
  if (resolvers < 2)
    return [
      warn(
        'edge',
        says,
        'Set GATEWAY_DNS_SERVERS to two or more validating resolvers of different operators: one alone can be lied to.',
      ),
    ]
  return [ok('edge', says)]
}
