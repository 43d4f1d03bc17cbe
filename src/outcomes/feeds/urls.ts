// Addresses that a feed states: resolved, in one spelling, and without what only counts who came from where.

const MAX_URL_CHARACTERS = 2048

const TRACKING =
  /^(?:utm_\w+|mtm_\w+|pk_\w+|piwik_\w+|at_(?:medium|campaign|custom\d*|link_\w+|ptr_name|format|bbc_team)|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|li_fat_id|mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi|_ga|_gl|ref_src|s_cid|srsltid|vero_id|oly_enc_id|oly_anon_id|wickedid|rb_clickid)$/i

/** @returns undefined for what is no address on the web */
export function resolveUrl(stated: string, base: string | undefined): string | undefined {
  const written = stated.trim()
  if (written === '' || written.length > MAX_URL_CHARACTERS || !URL.canParse(written, base)) return undefined
  const url = new URL(written, base)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined
  return url.href.length > MAX_URL_CHARACTERS ? undefined : url.href
}

/**
 * Lower-case host, no default port, no credentials, no fragment, no tracking parameters; what is left keeps its order
 * and its spelling.
 * @param href an absolute http or https address
 */
export function canonicaliseUrl(href: string): string {
  const url = new URL(href)
  url.hash = ''
  url.username = ''
  url.password = ''
  if (url.search !== '') {
    const kept = url.search
      .slice(1)
      .split('&')
      .filter((pair) => pair !== '' && !TRACKING.test(nameOf(pair)))
    url.search = kept.join('&')
  }
  return url.href.endsWith('?') ? url.href.slice(0, -1) : url.href
}

function nameOf(pair: string): string {
  const name = pair.split('=', 1)[0]!
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/**
 * Equal for two addresses of the same thing: canonical, without the scheme. A fragment stays where it may be what tells
 * two entries of one page apart.
 */
export function toUrlKey(href: string): string {
  return canonicaliseUrl(href).replace(/^https?:/, '')
}
