// News of the gateway for a page that is open (../../events.ts). The page works without: what is there when it loads is all that it needs.
import type { LiveTopic } from '../../../../core/live-events.ts'

/** What a page does with news. */
export interface Listener {
  /** Several at once, oldest first: draw once for all of them. */
  news(items: readonly (readonly [LiveTopic, unknown])[]): void
  /** Something is missing: it came faster than this page could take it, or while it was away. Null: nobody knows how much. */
  gap?(missed: number | null): void
  /** `lost`: it is tried again; `ended`: the session ended or the role changed, so the page says so and is loaded again. */
  state?(state: 'open' | 'lost' | 'ended'): void
}

export interface Wish {
  /** `page.href('/console/events')` */
  readonly address: string
  readonly topics: readonly LiveTopic[]
  /** It is listened to while nobody sees the page, too: a browser has six connections for one host, so few pages may. */
  readonly evenHidden?: boolean
}

/** A refused stream (too many pages, the gateway is away) is asked for again after this. */
const AGAIN_MS = 10_000

/** Listens until the returned function is called. */
export function listen({ address, topics, evenHidden = false }: Wish, listener: Listener): () => void {
  let source: EventSource | undefined
  let last = ''
  let again: ReturnType<typeof setTimeout> | undefined
  let isOver = false

  function open(): void {
    if (isOver || source || (document.hidden && !evenHidden)) return
    const query = new URLSearchParams({ topics: topics.join(',') })
    if (last !== '') query.set('after', last)
    const opened = new EventSource(`${address}?${query.toString()}`)
    source = opened
    opened.addEventListener('begin', ({ lastEventId }: MessageEvent<string>) => {
      last ||= lastEventId
      listener.state?.('open')
    })
    opened.addEventListener('news', ({ data, lastEventId }: MessageEvent<string>) => {
      last = lastEventId
      listener.news(JSON.parse(data) as [LiveTopic, unknown][])
    })
    opened.addEventListener('gap', ({ data }: MessageEvent<string>) => {
      listener.gap?.((JSON.parse(data) as { missed: number | null }).missed)
    })
    opened.addEventListener('end', () => {
      isOver = true
      close()
      listener.state?.('ended')
    })
    opened.addEventListener('error', () => {
      if (isOver) return
      listener.state?.('lost')
      // The browser tries again by itself, but where it was refused.
      if (opened.readyState !== EventSource.CLOSED) return
      close()
      again = setTimeout(open, AGAIN_MS)
    })
  }

  function close(): void {
    clearTimeout(again)
    source?.close()
    source = undefined
  }

  const onVisible = () => (document.hidden && !evenHidden ? close() : open())
  document.addEventListener('visibilitychange', onVisible)
  open()
  return () => {
    isOver = true
    document.removeEventListener('visibilitychange', onVisible)
    close()
  }
}
