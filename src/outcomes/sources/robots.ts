// Gets the files in which a site says how it may be read, once a day, by the same safe way as the pages themselves.
import { within } from '../../lib/deadline.ts'
import type { Analyser, SourceReader } from '../ports.ts'
import type { SiteRules } from '../text/site-rules.ts'
import { MAX_BYTES } from './accept.ts'

/** Null: the site did not say, because it could not be asked. */
export type SiteAnswer = SiteRules | null

export interface Robots {
  /** Whatever happens, it answers within two seconds. */
  look(url: string): Promise<SiteAnswer>
}

interface Kept {
  readonly robots: File
  readonly tdmRep: File
}
/** The text of a file; null where there is none; undefined where the site could not be asked. */
type File = string | null | undefined

const TIMEOUT_MS = 2000
/** Every file is asked for again wherever its site redirects, and that for every address of a chain: what nobody needs is not followed. */
const FILES = {
  // RFC 9309, 2.3.1.2: at least five.
  robots: { path: '/robots.txt', maxBytes: MAX_BYTES.robots, maxRedirects: 5 },
  tdmRep: { path: '/.well-known/tdmrep.json', maxBytes: 64 * 1024, maxRedirects: 1 },
} as const
/** RFC 9309, 2.4: not longer than 24 hours. */
const KEPT_MS = 24 * 60 * 60_000
const KEPT_UNANSWERED_MS = 5 * 60_000
const MAX_KEPT_CHARACTERS = 8 * 1024 * 1024
const OVERHEAD_CHARACTERS = 200

export function createRobots(parts: {
  readonly reader: SourceReader
  readonly analyser: Analyser
  readonly now: () => number
  /** For the files of a site; what the product takes unless given. */
  readonly timeoutMs?: number | undefined
}): Robots {
  const { reader, analyser, now, timeoutMs: mostMs = TIMEOUT_MS } = parts
  // The order of a map is the order of its entries' arrival: the oldest goes first.
  const sites = new Map<string, { readonly files: Promise<Kept>; until: number; size: number }>()
  let size = 0

  async function readFile(origin: string, name: keyof typeof FILES): Promise<File> {
    const { path, maxBytes, maxRedirects } = FILES[name]
    const deadline = now() + mostMs
    let url = origin + path
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const timeoutMs = deadline - now()
      if (timeoutMs <= 0) return undefined
      // Shared by whoever asks next, so that it does not end with the one that asked first.
      const signal = AbortSignal.timeout(mostMs)
      const read = await reader.read(url, { wanted: 'robots', maxAgeSeconds: 0, timeoutMs, signal })
      if (read.ok) return read.source.body.subarray(0, maxBytes).toString('utf8')
      if (read.reason === 'redirected' && read.redirectTo !== undefined) url = read.redirectTo
      else if (read.reason === 'empty') return null
      // RFC 9309, 2.3.1.3 and 2.3.1.4: what is not there allows, what cannot be reached does not.
      else return read.httpStatus !== undefined && read.httpStatus < 500 ? null : undefined
    }
    return null
  }

  function filesOf(origin: string): Promise<Kept> {
    const kept = sites.get(origin)
    if (kept && now() < kept.until) return kept.files
    drop(origin)
    const files = Promise.all([readFile(origin, 'robots'), readFile(origin, 'tdmRep')]).then(
      ([robots, tdmRep]) => ({ robots, tdmRep }),
    )
    const site = { files, until: now() + KEPT_UNANSWERED_MS, size: OVERHEAD_CHARACTERS }
    sites.set(origin, site)
    size += site.size
    void files.then(({ robots, tdmRep }) => {
      if (sites.get(origin) !== site) return
      const more = (robots?.length ?? 0) + (tdmRep?.length ?? 0)
      site.size += more
      size += more
      if (robots !== undefined) site.until = now() + KEPT_MS
      for (const oldest of sites.keys()) {
        if (size <= MAX_KEPT_CHARACTERS) break
        drop(oldest)
      }
    })
    return files
  }

  function drop(origin: string): void {
    size -= sites.get(origin)?.size ?? 0
    sites.delete(origin)
  }

  async function lookNow(url: string): Promise<SiteAnswer> {
    const { robots, tdmRep } = await filesOf(new URL(url).origin)
    if (robots === undefined) return null
    const read = await analyser.run('siteRules', { robotsTxt: robots, tdmRep: tdmRep ?? null, url })
    return read.ok ? read.value : null
  }

  return {
    async look(url) {
      if (!URL.canParse(url)) return null
      try {
        return (await within(mostMs, lookNow(url))) ?? null
      } catch {
        return null
      }
    },
  }
}
