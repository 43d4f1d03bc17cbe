// Addresses that may be dialled: the public internet, and ranges that were opened by name. Decides on one literal address;
// that every address of a name must pass is the story's rule, and for whom a range is open is reach/private-targets.ts.
import { type BlockList, isIP } from 'node:net'
import { rangesOf } from '../lib/cidr.ts'

export type AddressReason =
  | 'not_an_address'
  | 'zone_id'
  | 'this_network'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link_local'
  | 'reserved'
  | 'documentation'
  | 'benchmarking'
  | 'multicast'
  | 'broadcast'
  | 'cloud_metadata'
  | 'embeds_ipv4'
  | 'not_global_unicast'
  /** Granted to the credential, but no longer within what the operator bounds grants by. */
  | 'beyond_bound'

export type AddressVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: AddressReason }

export interface AddressPolicy {
  /** Judges one literal address; text that is none is refused. */
  classify(address: string): AddressVerdict
}

type Rule = readonly [cidr: string, reason: AddressReason]

const DENIED_V4: readonly Rule[] = [
  // Metadata services of Alibaba Cloud and of Oracle Cloud, within wider ranges that may be granted.
  ['100.100.100.200/32', 'cloud_metadata'],
  ['192.0.0.192/32', 'cloud_metadata'],
  ['0.0.0.0/8', 'this_network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link_local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'reserved'],
  ['192.52.193.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'reserved'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  // Azure's WireServer answers here, in what is otherwise public space.
  ['168.63.129.16/32', 'cloud_metadata'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
]

/** IPv6 that is handed out for use on the internet. Everything else is denied without being listed. */
const GLOBAL_V6 = '2000::/3'

const DENIED_IN_GLOBAL_V6: readonly Rule[] = [
  // Teredo first: it is inside the protocol assignments, and says more.
  ['2001::/32', 'embeds_ipv4'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', 'embeds_ipv4'],
  ['3ffe::/16', 'reserved'],
  ['3fff::/20', 'documentation'],
  ['2620:4f:8000::/48', 'reserved'],
]

/**
 * These ranges lie outside 2000::/3 and are denied whether or not they are named here. Their words are for the log, and say which
 * of them no credential is ever granted (reach/private-targets.ts).
 */
const NAMED_OUTSIDE_GLOBAL_V6: readonly Rule[] = [
  ['::/128', 'this_network'],
  ['::1/128', 'loopback'],
  ['::/96', 'embeds_ipv4'],
  ['::ffff:0:0/96', 'embeds_ipv4'],
  ['::ffff:0:0:0/96', 'embeds_ipv4'],
  ['64:ff9b::/96', 'embeds_ipv4'],
  ['64:ff9b:1::/48', 'embeds_ipv4'],
  // AWS, Google Cloud, Oracle Cloud and Scaleway.
  ['fd00:ec2::/32', 'cloud_metadata'],
  ['fd20:ce::254/128', 'cloud_metadata'],
  ['fd00:c1::a9fe:a9fe/128', 'cloud_metadata'],
  ['fd00:42::42/128', 'cloud_metadata'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link_local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
]

// Two lists, never one: a list that holds both families compares IPv4 with IPv6 rules in mapped form, and a rule that
// covers ::ffff:0:0/96 then denies all of IPv4.
const deniedV4 = rangesOf(DENIED_V4.map(([cidr]) => cidr))
const globalV6 = rangesOf([GLOBAL_V6])
const deniedV6 = rangesOf(DENIED_IN_GLOBAL_V6.map(([cidr]) => cidr))

const toRange = ([cidr, reason]: Rule): NamedRange => ({ list: rangesOf([cidr]), reason })
const namedV4 = DENIED_V4.map(toRange)
const namedV6 = [...NAMED_OUTSIDE_GLOBAL_V6, ...DENIED_IN_GLOBAL_V6].map(toRange)

/**
 * @param opened opens exactly these ranges, in their own family; without any, the public internet is what is left
 * @throws on text that is not `address/bits`
 */
export function createAddressPolicy(opened: readonly string[]): AddressPolicy {
  const isV4 = (cidr: string) => isIP(cidr.replace(/\/.*/, '')) === 4
  const opened4 = rangesOf(opened.filter(isV4))
  const opened6 = rangesOf(opened.filter((cidr) => !isV4(cidr)))
  return {
    classify(address) {
      // Node takes a zone for part of an address; it names an interface of this machine.
      if (address.includes('%')) return { ok: false, reason: 'zone_id' }
      const family = isIP(address)
      if (family === 4) {
        if (!deniedV4.check(address, 'ipv4') || opened4.check(address, 'ipv4')) return { ok: true }
        return { ok: false, reason: name(address, 'ipv4', namedV4) ?? 'reserved' }
      }
      if (family === 6) {
        if (isPublicV6(address) || (!isMapped(address) && opened6.check(address, 'ipv6'))) return { ok: true }
        const reason = name(address, 'ipv6', namedV6)
        return { ok: false, reason: reason ?? 'not_global_unicast' }
      }
      return { ok: false, reason: 'not_an_address' }
    },
  }
}

const isPublicV6 = (address: string) => globalV6.check(address, 'ipv6') && !deniedV6.check(address, 'ipv6')

const mapped = rangesOf(['::ffff:0:0/96'])
/** A mapped address is dialled as IPv4, so an opened IPv6 range does not speak for it. */
const isMapped = (address: string) => mapped.check(address, 'ipv6')

interface NamedRange {
  readonly list: BlockList
  readonly reason: AddressReason
}

function name(
  address: string,
  family: 'ipv4' | 'ipv6',
  ranges: readonly NamedRange[],
): AddressReason | undefined {
  return ranges.find(({ list }) => list.check(address, family))?.reason
}
