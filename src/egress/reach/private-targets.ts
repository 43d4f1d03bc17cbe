// Private ranges belong to credentials: what an administrator may grant, and which addresses a request may lead to then.
import type { CredentialSettings, PrivateTarget } from '../../../schemas/credential-settings.ts'
import type { Scope } from '../../../schemas/http.ts'
import { GatewayError } from '../../core/errors.ts'
import { isCidr, isWithinOne } from '../../lib/cidr.ts'
import { keepNewest } from '../../lib/keep-newest.ts'
import { type AddressPolicy, type AddressReason, createAddressPolicy } from '../address.ts'
import { coversHost } from '../scope.ts'

/**
 * Never granted, whatever range holds them: the credentials of the machine itself are handed out at link-local and metadata
 * addresses, the others are no single host, and an address that embeds another one is dialled as that one.
 */
const NEVER_GRANTED: ReadonlySet<AddressReason> = new Set<AddressReason>([
  'zone_id',
  'this_network',
  'link_local',
  'multicast',
  'broadcast',
  'cloud_metadata',
  'embeds_ipv4',
])

/** Which addresses a request to this place may lead to, under this credential or none. */
export type Reach = (
  target: { readonly host: string; readonly port: number },
  credential: { readonly settings: CredentialSettings } | undefined,
) => AddressPolicy

const MAX_KNOWN = 256

/**
 * @param publicAddresses what every request may reach
 * @param bounds GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS as it is now: a grant that is older than its bound opens what is in both
 */
export function createReach(publicAddresses: AddressPolicy, bounds: readonly string[]): Reach {
  const bound = createAddressPolicy(bounds)
  const known = new Map<string, AddressPolicy>()

  function policyFor(ranges: readonly string[]): AddressPolicy {
    const key = ranges.join(' ')
    const made = known.get(key)
    if (made) return made
    const granted = createAddressPolicy(ranges)
    const policy: AddressPolicy = {
      classify(address) {
        const verdict = publicAddresses.classify(address)
        if (verdict.ok || NEVER_GRANTED.has(verdict.reason)) return verdict
        if (!granted.classify(address).ok) return verdict
        return bound.classify(address).ok ? { ok: true } : { ok: false, reason: 'beyond_bound' }
      },
    }
    known.set(key, policy)
    keepNewest(known, MAX_KNOWN)
    return policy
  }

  return ({ host, port }, credential) => {
    const targets = credential?.settings.unsafe_private_targets
    const ranges = targets?.filter((target) => target.host === host && target.port === port)
    if (!ranges || ranges.length === 0) return publicAddresses
    return policyFor(ranges.map(({ cidr }) => cidr))
  }
}

export interface GrantRules {
  /** Whether the caller's key is that of an administrator. */
  readonly isAdministrator: boolean
  /** GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS */
  readonly bounds: readonly string[]
  /** Ports that outbound requests may use. */
  readonly ports: readonly number[]
  /** Of the credential: a target outside of it could never be used. */
  readonly scope: Scope
}

/**
 * Whether these private targets may be granted.
 * @throws {GatewayError} admin_required, input_invalid with the member and what to do
 */
export function checkPrivateTargets(
  targets: readonly PrivateTarget[] | undefined,
  { isAdministrator, bounds, ports, scope }: GrantRules,
): void {
  if (targets === undefined) return
  if (!isAdministrator)
    throw new GatewayError(
      'admin_required',
      'Private targets are granted by an administrator alone: store this credential without `unsafe_private_targets`, or ask ' +
        "whoever holds the service key of the installation's first account.",
    )
  for (const [i, { host, port, cidr }] of targets.entries()) {
    const refuse = (member: string, message: string) => {
      const pointer = `/settings/unsafe_private_targets/${i}/${member}`
      return new GatewayError('input_invalid', `${pointer}: ${message}.`, {
        extras: { fields: [{ pointer, message }] },
      })
    }
    if (!scope.hosts.some((entry) => coversHost(entry, host, port)))
      throw refuse('host', `${host}:${port} is not among the \`hosts\` of this credential: add it there`)
    if (!ports.includes(port))
      throw refuse('port', `${port} is not in GATEWAY_EGRESS_PORTS (${ports.join(', ')}): add it there`)
    if (!isCidr(cidr)) throw refuse('cidr', 'write the range as address/bits, such as 10.1.2.0/24')
    const verdict = createAddressPolicy([]).classify(addressOf(cidr))
    if (!verdict.ok && NEVER_GRANTED.has(verdict.reason))
      throw refuse('cidr', `no credential may reach ${cidr} (${verdict.reason}), whatever the gateway allows`)
    if (!isWithinOne(cidr, bounds))
      throw refuse(
        'cidr',
        bounds.length === 0
          ? 'this gateway allows no private range: set GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS to a range that holds it, and start again'
          : `${cidr} is not within GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS (${bounds.join(', ')})`,
      )
  }
}

/** As the command line takes it: `host:port=range`. */
export const showTarget = ({ host, port, cidr }: PrivateTarget): string => `${host}:${port}=${cidr}`

const addressOf = (cidr: string) => cidr.slice(0, cidr.indexOf('/'))
