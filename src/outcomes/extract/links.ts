// Addresses in a page: which may be shown, and as what. Nothing here is ever fetched.
import { toUSVString } from 'node:util'
import { attribute, type ParsedPage } from './tree.ts'

export interface ResolvedLink {
  readonly url: string
  readonly absolute: boolean
}

const SHOWN = new Set(['http:', 'https:', 'mailto:', 'tel:'])
const MAX_URL_CHARACTERS = 2048
// The URL standard removes these before it looks for a scheme: what a browser overlooks, a filter has to overlook too.
const BREAKS = /[\t\n\r]+/g
// oxlint-disable-next-line no-control-regex -- see above
const OUTER_CONTROLS = /^[\u0000-\u0020]+|[\u0000-\u0020]+$/g
// oxlint-disable-next-line no-control-regex -- no address holds one
const CONTROL = /[\u0000-\u001F\u007F]/

/**
 * Scripts, data and unknown schemes are not links.
 * @param base absolute http(s) address, or undefined when none is known: relative links then stay as written
 */
export function resolveLink(href: string, base: string | undefined): ResolvedLink | undefined {
  const written = toUSVString(
    href
      .slice(0, 2 * MAX_URL_CHARACTERS)
      .replace(BREAKS, '')
      .replace(OUTER_CONTROLS, ''),
  )
  if (
    written === '' ||
    written.startsWith('#') ||
    written.length > MAX_URL_CHARACTERS ||
    CONTROL.test(written)
  )
    return undefined
  const hasScheme = /^[a-z][a-z\d+.-]*:/i.test(written)
  if (!hasScheme && base === undefined) return { url: written, absolute: false }
  const url = URL.parse(written, base)
  if (!url || !SHOWN.has(url.protocol) || url.href.length > MAX_URL_CHARACTERS) return undefined
  return { url: url.href, absolute: true }
}

/** Base of a page: its own absolute `<base href>`, else what the request says; the first resolves against the second. */
export function baseOf(page: ParsedPage, requested: string | undefined): string | undefined {
  const element = page.head.find(({ name }) => name === 'base')
  const declared = element && attribute(element.attributes, 'href')
  const resolved = declared === undefined ? undefined : resolveLink(declared, requested)
  const base = resolved?.absolute ? resolved.url : requested
  return base !== undefined && /^https?:/i.test(base) ? base : undefined
}
