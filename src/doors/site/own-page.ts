// Where a request comes from, as far as its browser says: pages of this site, others, or nobody knows.
import type { IncomingMessage } from 'node:http'

export type Sender = 'own page' | 'elsewhere' | 'unknown'

/**
 * Browsers that are kept say it in one word, which no page can make them say otherwise; older ones name an origin. Programs say neither,
 * and so does who follows a bookmark.
 */
export function senderOf({ headers }: Pick<IncomingMessage, 'headers'>): Sender {
  const site = headers['sec-fetch-site']
  if (site !== undefined)
    return site === 'same-origin' ? 'own page' : site === 'none' ? 'unknown' : 'elsewhere'
  const { origin, host } = headers
  if (origin === undefined) return 'unknown'
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host
    ? 'own page'
    : 'elsewhere'
}
