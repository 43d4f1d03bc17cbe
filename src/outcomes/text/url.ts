// One spelling for addresses that name the same thing: what duplicates are found by. Never what is fetched.

/** Parameters that say where a reader came from and nothing about what is read. */
const TRACKING = new Set(
  (
    'gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid li_fat_id igshid igsh epik ' +
    'mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking vero_id vero_conv oly_anon_id oly_enc_id ' +
    'wickedid ml_subscriber ml_subscriber_hash at_medium at_campaign _ga _gl srsltid'
  ).split(' '),
)

/**
 * WHATWG form with a lower-case host, no default port, no credentials, no fragment and no tracking parameters.
 * Whatever else the query says stays as written and in its order: it may well name another page.
 * @returns undefined for what is not an absolute http or https address
 */
export function canonicalUrl(url: string): string | undefined {
  const parsed = URL.parse(url)
  if (!parsed || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return undefined
  parsed.username = ''
  parsed.password = ''
  parsed.hash = ''
  const kept = parsed.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !isTracking(pair))
  // A parameter is taken off with its question mark where the query begins with another one that would be taken off.
  parsed.search = kept.length === 0 ? '' : `?${kept.join('&')}`
  return parsed.href
}

function isTracking(pair: string): boolean {
  const name = decodeName(pair.replace(/=.*$/s, '')).toLowerCase()
  return name.startsWith('utm_') || TRACKING.has(name)
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
