// Leaves sites alone whose pages keep being cut off. Each such page costs seconds that nobody pays for, so after a few of
// them the site waits. It counts failures by site and forgets them; payments/circuit-breaker.ts is about one upstream,
// which is asked again and again until it answers.
import { siteOf } from './site.ts'

export interface SiteBreaker {
  /** True while pages of this site are not read. */
  isOpen(url: string): boolean
  /** Counts a page that was made to be slow, or looked like it. */
  recordWaste(url: string): void
}

const MAX_FAILURES = 5
const FORGOTTEN_AFTER_MS = 10 * 60_000
const MAX_SITES = 10_000

/** @param now milliseconds */
export function createSiteBreaker(now: () => number): SiteBreaker {
  // Sites are in the order of their last failure.
  const sites = new Map<string, { readonly failures: number; readonly at: number }>()

  function find(site: string) {
    const found = sites.get(site)
    return found && now() - found.at < FORGOTTEN_AFTER_MS ? found : undefined
  }

  return {
    isOpen: (url) => (find(siteOf(url))?.failures ?? 0) >= MAX_FAILURES,
    recordWaste(url) {
      const site = siteOf(url)
      const failures = (find(site)?.failures ?? 0) + 1
      sites.delete(site)
      for (const oldest of sites.keys()) {
        if (sites.size < MAX_SITES) break
        sites.delete(oldest)
      }
      sites.set(site, { failures, at: now() })
    },
  }
}
