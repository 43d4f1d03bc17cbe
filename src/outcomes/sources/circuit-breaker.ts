// Sites whose pages keep being cut off. Each of them costs seconds that nobody pays for, so after a few the site waits.
import { getDomain } from 'tldts'

export interface Brake {
  isOn(url: string): boolean
  /** A page of this address was made to be slow, or looked like it. */
  mark(url: string): void
}

const MAX_MARKS = 5
const FORGOTTEN_AFTER_MS = 10 * 60_000
const MAX_SITES = 10_000

export function createBrake(now: () => number): Brake {
  // In the order of their last mark.
  const sites = new Map<string, { readonly marks: number; readonly at: number }>()

  function find(site: string) {
    const found = sites.get(site)
    return found && now() - found.at < FORGOTTEN_AFTER_MS ? found : undefined
  }

  return {
    isOn: (url) => (find(siteOf(url))?.marks ?? 0) >= MAX_MARKS,
    mark(url) {
      const site = siteOf(url)
      const marks = (find(site)?.marks ?? 0) + 1
      sites.delete(site)
      for (const oldest of sites.keys()) {
        if (sites.size < MAX_SITES) break
        sites.delete(oldest)
      }
      sites.set(site, { marks, at: now() })
    },
  }
}

/** Names under one registered domain are one site: they cost nothing. */
function siteOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { hostname } = new URL(url)
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
}
