// The address literal behind an @: [192.0.2.1] or [IPv6:2001:db8::1] (RFC 5321, 4.1.3). Syntax only.
import { isIPv4, isIPv6 } from 'node:net'

export type LiteralRule =
  'literal_unclosed' | 'literal_after' | 'literal_tag' | 'literal_ipv4' | 'literal_ipv6'

export type LiteralVerdict =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly rule: LiteralRule; readonly at: number }

/** @param text what stands behind the @, from its [ on */
export function readLiteral(text: string): LiteralVerdict {
  const end = text.indexOf(']')
  if (end === -1) return { ok: false, rule: 'literal_unclosed', at: text.length }
  if (end !== text.length - 1) return { ok: false, rule: 'literal_after', at: end + 1 }
  const inner = text.slice(1, end)
  const colon = inner.indexOf(':')
  if (colon === -1) {
    if (isIPv4(inner)) return { ok: true, address: inner }
    return { ok: false, rule: /^[0-9.]*$/.test(inner) ? 'literal_ipv4' : 'literal_tag', at: 1 }
  }
  // IPv6 is the only tag that was ever registered.
  if (inner.slice(0, colon).toLowerCase() !== 'ipv6') return { ok: false, rule: 'literal_tag', at: 1 }
  const address = inner.slice(colon + 1)
  // A zone names an interface of this machine.
  if (!isIPv6(address) || address.includes('%')) return { ok: false, rule: 'literal_ipv6', at: colon + 2 }
  return { ok: true, address: address.toLowerCase() }
}
