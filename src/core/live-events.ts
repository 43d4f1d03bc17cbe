// What happens now, for people who look on: each account has a channel of its own while somebody looks at it, and otherwise nothing is kept.
// A channel remembers its last entries, so that whoever lost the line for a moment misses nothing; whoever reads slower than things happen
// is told that something is missing, and nothing grows.
import { randomBytes } from 'node:crypto'
import type { CallDoor } from './context.ts'
import type { ErrorCode } from './errors.ts'

/** The kinds of news that a page may ask for. */
export const LIVE_TOPICS = ['decision', 'approval', 'attempt', 'job'] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

/** How one call ended. Nothing of its input is in it but the host that it was for, and no token. */
export interface Decision {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly request: string
  readonly door: CallDoor
  readonly tool: string
  /** Kind and id of the caller; an anonymous one has no id. */
  readonly by: string
  readonly caller: string | null
  readonly host: string | null
  readonly code: 'ok' | ErrorCode
  readonly ms: number
  /** Of the attempt that the call made; null where it made none. */
  readonly attempt: string | null
}

/** Who may know of it. */
export interface Audience {
  /** Members of this account; where it is left out, of any. */
  readonly accountId?: string | undefined
  /** Only those who look after the installation. */
  readonly admin?: boolean
}

/** The port through which the call path tells people of decisions. */
export interface DecisionWatch {
  /** Whether anybody looks at the calls of this account (undefined: of nobody's). It is asked with every call. */
  isWatched(accountId: string | undefined): boolean
  decided(accountId: string | undefined, decision: Decision): void
}

/** Where the news of one page are written. */
export interface LiveSink {
  /** Bytes that wait since the other side reads slowly. */
  readonly waiting: number
  /** Writes complete server-sent events. */
  write(text: string): void
}

export interface Subscription {
  /** The other side takes more. */
  more(): void
  end(): void
}

export interface LiveEvents extends DecisionWatch {
  /** Never throws, and costs nothing where nobody looks. */
  publish(to: Audience, topic: LiveTopic, data: object): void
  /**
   * @param after id of the last event that this page had; what came since is sent first, as far as it is remembered
   */
  subscribe(
    who: { readonly accountId: string; readonly admin: boolean; readonly topics: ReadonlySet<LiveTopic> },
    after: string | undefined,
    sink: LiveSink,
  ): Subscription
}

/** Entries that a channel remembers: two seconds of a busy gateway, hours of a quiet one. */
export const REMEMBERED = 2048
/** Nobody sees a page change faster; together they cost one write for each page. */
const PAUSE_MS = 200
/** How long a channel remembers for a page that lost the line. */
const LINGER_MS = 30_000
/** A page with more than this in its way waits. */
export const MOST_WAITING = 256 * 1024

interface Entry {
  readonly id: number
  readonly topic: LiveTopic
  readonly data: object
  readonly isForAdmin: boolean
}

interface Page {
  readonly topics: ReadonlySet<LiveTopic>
  readonly admin: boolean
  /** Pages of one kind are sent the same text. */
  readonly kind: string
  readonly sink: LiveSink
  /** Id of the last entry that it had. */
  last: number
}

interface Channel {
  readonly accountId: string
  readonly pages: Set<Page>
  /** Entry `id` stands at `id % REMEMBERED`. */
  readonly ring: Entry[]
  last: number
  /** Somebody who looks after the installation looks, or did a moment ago. */
  hasAdmin: boolean
  hasDecisions: boolean
  timer: NodeJS.Timeout | undefined
  linger: NodeJS.Timeout | undefined
}

/** The news of this process. */
export function createLiveEvents(): LiveEvents {
  const channels = new Map<string, Channel>()
  /** Of a process that started again, or of another replica, ids mean nothing here. */
  const epoch = randomBytes(6).toString('hex')

  function channelOf(accountId: string): Channel {
    let channel = channels.get(accountId)
    if (!channel) {
      channel = {
        accountId,
        pages: new Set(),
        ring: [],
        last: 0,
        hasAdmin: false,
        hasDecisions: false,
        timer: undefined,
        linger: undefined,
      }
      channels.set(accountId, channel)
    }
    clearTimeout(channel.linger)
    channel.linger = undefined
    return channel
  }

  function add(channel: Channel, topic: LiveTopic, data: object, isForAdmin: boolean): void {
    const id = ++channel.last
    channel.ring[id % REMEMBERED] = { id, topic, data, isForAdmin }
    channel.timer ??= setTimeout(() => flush(channel), PAUSE_MS).unref()
  }

  function flush(channel: Channel): void {
    channel.timer = undefined
    const texts = new Map<string, string>()
    for (const page of channel.pages) {
      const key = `${page.kind} ${page.last}`
      send(channel, page, texts.get(key), (text) => texts.set(key, text))
    }
  }

  /** Sends what the page has not had, unless it is still busy with what it was sent before. */
  function send(channel: Channel, page: Page, known?: string, made?: (text: string) => void): void {
    if (page.last === channel.last || page.sink.waiting > MOST_WAITING) return
    const text = known ?? textSince(channel, page)
    made?.(text)
    page.last = channel.last
    if (text !== '') page.sink.write(text)
  }

  function textSince({ ring, last }: Channel, page: Page): string {
    const first = Math.max(page.last, last - REMEMBERED)
    const news: [LiveTopic, object][] = []
    for (let id = first + 1; id <= last; id++) {
      const entry = ring[id % REMEMBERED]
      if (entry && page.topics.has(entry.topic) && (page.admin || !entry.isForAdmin))
        news.push([entry.topic, entry.data])
    }
    const gap = first > page.last ? gapText(first - page.last) : ''
    return news.length === 0
      ? gap
      : `${gap}id: ${epoch}-${last}\nevent: news\ndata: ${JSON.stringify(news)}\n\n`
  }

  function leave(channel: Channel, page: Page): void {
    if (!channel.pages.delete(page) || channel.pages.size > 0) return
    channel.linger = setTimeout(() => {
      clearTimeout(channel.timer)
      channels.delete(channel.accountId)
    }, LINGER_MS).unref()
  }

  const publish: LiveEvents['publish'] = ({ accountId, admin = false }, topic, data) => {
    if (channels.size === 0) return
    if (accountId === undefined) {
      for (const channel of channels.values())
        if (!admin || channel.hasAdmin) add(channel, topic, data, admin)
      return
    }
    const channel = channels.get(accountId)
    if (channel) add(channel, topic, data, admin)
  }

  return {
    publish,
    isWatched(accountId) {
      if (channels.size === 0) return false
      if (accountId !== undefined) return channels.get(accountId)?.hasDecisions ?? false
      for (const { hasAdmin, hasDecisions } of channels.values()) if (hasAdmin && hasDecisions) return true
      return false
    },
    decided(accountId, decision) {
      publish(accountId === undefined ? { admin: true } : { accountId }, 'decision', decision)
    },
    subscribe({ accountId, admin, topics }, after, sink) {
      const channel = channelOf(accountId)
      const kind = `${admin ? 'admin' : 'member'} ${[...topics].toSorted().join()}`
      const page: Page = { topics, admin, kind, sink, last: channel.last }
      channel.pages.add(page)
      channel.hasAdmin ||= admin
      channel.hasDecisions ||= topics.has('decision')
      sink.write(`id: ${epoch}-${channel.last}\nevent: begin\ndata: {}\n\n`)
      if (after !== undefined) {
        const [its, id] = after.split('-')
        const had = Number(id)
        if (its === epoch && Number.isSafeInteger(had) && had >= 0 && had <= channel.last) {
          page.last = had
          send(channel, page)
        } else sink.write(gapText(null))
      }
      return {
        more: () => send(channel, page),
        end: () => leave(channel, page),
      }
    },
  }
}

/** @param missed entries; null where nobody knows how many */
const gapText = (missed: number | null) => `event: gap\ndata: ${JSON.stringify({ missed })}\n\n`
