// Addresses that a feed states: resolved, in one spelling, and without what only counts who came from where.

const MAX_URL_CHARACTERS = 2048

const TRACKING =
  /^(?:utm_\w+|mtm_\w+|pk_\w+|piwik_\w+|at_(?:medium|campaign|custom\d*|link_\w+|ptr_name|format|bbc_team)|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|li_fat_id|mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi|_ga|_gl|ref_src|s_cid|srsltid|vero_id|oly_enc_id|oly_anon_id|wickedid|rb_clickid)$/i

/** @returns undefined for what is no address on the web */
export function resolveUrl(stated: string, base: string | undefined): string | undefined {
  const written = stated.trim()
  if (written === '' || written.length > MAX_URL_CHARACTERS) return undefined
  const url = URL.parse(written, base)
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  return url && isWeb && url.href.length <= MAX_URL_CHARACTERS ? url.href : undefined
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
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !TRACKING.test(nameOf(pair)))
  // Set even where it is empty: a question mark with nothing behind it goes too.
  url.search = kept.length === 0 ? '' : `?${kept.join('&')}`
  return url.href
}

function nameOf(pair: string): string {
  const name = pair.replace(/=.*$/s, '')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Equal for two canonical addresses of the same page, whichever way they are reached. */
export const toUrlKey = (canonical: string): string => canonical.replace(/^https?:/, '')

/** `#part`; empty where there is none. */
export function fragmentOf(href: string): string {
  const at = href.indexOf('#')
  return at < 0 || at === href.length - 1 ? '' : href.slice(at)
}
