// Decides what counts as one site: all names under one registrable domain.
import { getDomain } from 'tldts'

/** The registrable domain of an address, or its host where that has none; who shares a hosting domain is a site each. */
export function siteOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { hostname } = new URL(url)
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
}
