// Where an answer sends a program that is behind a base URL. Libraries follow a redirect to another host and leave `Authorization` and
// `Cookie` behind, and the query with the address; every other header goes along, and so would the capability that stands in one, to whomever
// the upstream names.
import type { HttpExchange } from '../../core/message.ts'
import { findEncodedToken } from '../../lib/tokens.ts'
import type { HeaderPairs } from '../headers.ts'

const LEFT_BEHIND: ReadonlySet<string> = new Set(['authorization', 'cookie'])

/** The head of an answer, with lower-case names. */
interface Head {
  readonly status: number
  readonly headers: HeaderPairs
}

/** @returns the origin that an answer would have the program take its capability to, `https://other.example`; undefined where it may pass */
export type FindRedirect = (head: Head) => string | undefined

/** @param url that is asked, at the upstream */
export function createFindRedirect(
  exchange: Pick<HttpExchange, 'target' | 'headers'>,
  url: string,
): FindRedirect {
  return ({ status, headers }) => {
    // curl follows each of them.
    if (status < 300 || status > 399) return undefined
    const { origin } = new URL(url)
    const away = headers
      .filter(([name]) => name === 'location')
      // What is no address is not passed on (doors/via/location.ts).
      .map(([, location]) => URL.parse(location, url))
      .find((to) => to && to.origin !== origin)
    if (!away || !carriesCapability(exchange)) return undefined
    // Of what is no address of the web there is no origin.
    return away.origin === 'null' ? away.protocol : away.origin
  }
}

/** Whether it would go along: the program knows the gateway alone, and has its capability in a header that libraries hand on. */
function carriesCapability({ target, headers }: Pick<HttpExchange, 'target' | 'headers'>): boolean {
  if (!('base' in target) || target.base === undefined) return false
  return headers.some(([name, value]) => !LEFT_BEHIND.has(name.toLowerCase()) && findEncodedToken(value))
}

export const redirectWords = (status: number, to: string) =>
  `The upstream carried the request out (status ${status}) and redirects to ${to}. Libraries would take the capability along, which stands in a header ` +
  'that they hand on, so the redirect was not passed on. Send the capability as `Authorization: Bearer` to get it, or ask that address without it.'
