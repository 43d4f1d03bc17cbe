// The audit log as a file: JSON lines, the first of which says what it is, with a fresh signed head at the end.
import type { AuditPage } from './ports.ts'

/** Events that are read at once. */
export const EXPORT_PAGE = 500

type Read = (from: {
  readonly after: number
  readonly limit: number
}) => Promise<Pick<AuditPage, 'chain' | 'events' | 'heads' | 'head' | 'intact' | 'next'>>

export interface ExportOptions {
  /** Address of the gateway. */
  readonly gateway: string
  /** Events behind this one. */
  readonly after?: number
  /** Told of each page: how far it is, and whether the gateway finds its chain whole. */
  readonly onPage?: (page: { readonly last: number; readonly intact: boolean }) => void
}

/** Every event and signed head, a line each, without its end of line. */
export async function* exportLines(
  read: Read,
  { gateway, after = 0, onPage }: ExportOptions,
): AsyncGenerator<string> {
  for (let from: number | null = after; from !== null;) {
    const page = await read({ after: from, limit: EXPORT_PAGE })
    if (from === after) yield JSON.stringify({ type: 'export', v: 1, gateway, chain: page.chain, after })
    for (const event of page.events) yield JSON.stringify({ type: 'event', event })
    for (const jws of page.heads) yield JSON.stringify({ type: 'head', jws })
    if (page.next === null && page.head !== null) yield JSON.stringify({ type: 'head', jws: page.head })
    onPage?.({ last: page.events.at(-1)?.seq ?? from, intact: page.intact })
    from = page.next
  }
}
