// Pages that never change while the process runs, drawn once. Who walks the whole site fills this and no more: what was asked for longest
// ago goes when they are too many or too large together.
import type { FixedDocument } from '../http/document.ts'

export interface KeptPages {
  /** The page kept under the key, for a request with this query. */
  find(key: string, query: string): FixedDocument | undefined
  /** @param isForAnyQuery the page has one form, whatever is asked of it */
  keep(
    key: string,
    page: { readonly document: FixedDocument; readonly bytes: number; readonly isForAnyQuery: boolean },
  ): void
}

/** A page of the whole registry is about 60 KB before it is compressed. */
const MAX_BYTES = 6 * 1024 * 1024

export function createKeptPages(maxBytes: number = MAX_BYTES): KeptPages {
  const kept = new Map<string, Parameters<KeptPages['keep']>[1]>()
  let total = 0

  function drop(key: string): void {
    total -= kept.get(key)?.bytes ?? 0
    kept.delete(key)
  }

  return {
    find(key, query) {
      const known = kept.get(key)
      if (!known || (query !== '' && !known.isForAnyQuery)) return undefined
      // Asked for now: the last to go.
      kept.delete(key)
      kept.set(key, known)
      return known.document
    },
    keep(key, page) {
      drop(key)
      if (page.bytes > maxBytes) return
      kept.set(key, page)
      total += page.bytes
      for (const oldest of kept.keys()) {
        if (total <= maxBytes) break
        drop(oldest)
      }
    },
  }
}
