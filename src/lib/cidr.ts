// Ranges of addresses as text, `address/bits`. Which of them may be reached is decided elsewhere.
import { BlockList, isIP } from 'node:net'

/** Whether the text is `address/bits` of either family. */
export function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/')
  if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false
  try {
    rangesOf([text])
    return true
  } catch {
    return false
  }
}

/**
 * One list for one family: a list that holds both compares IPv4 with IPv6 rules in mapped form.
 * @throws on text that is not `address/bits`
 */
export function rangesOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** Whether one of the outer ranges holds all of the inner one, in its own family. */
export function isWithinOne(inner: string, outer: readonly string[]): boolean {
  const [network = '', bits] = inner.split('/')
  const family = isIP(network)
  return outer.some((cidr) => {
    const [outerNetwork = '', outerBits] = cidr.split('/')
    if (isIP(outerNetwork) !== family || Number(outerBits) > Number(bits)) return false
    return rangesOf([cidr]).check(network, family === 6 ? 'ipv6' : 'ipv4')
  })
}
