// What a variable that names an address may say: pure questions about its text.
import { isIP } from 'node:net'

export function hasUserinfo(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.username !== '' || url.password !== '')
}

export function hasQueryOrFragment(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.search !== '' || url.hash !== '')
}

/** @param host a name or address, IPv6 also in the brackets of a URL */
export const isLoopbackHost = (host: string) =>
  host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'))

/** An IP address, with a port or without; IPv6 with a port stands in brackets. */
export function isSocketAddress(text: string): boolean {
  if (isIP(text)) return true
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  return isIP(bracketed ?? plain ?? '') !== 0 && Number(port) <= 65535
}
