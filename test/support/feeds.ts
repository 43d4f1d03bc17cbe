// Feeds as tests write them.
import { readFeed } from '../../src/outcomes/feeds/feed.ts'
import type { PageInput } from '../../src/outcomes/reading.ts'

export const FEED_URL = 'https://feeds.example/feed.xml'

export const rss = (channel: string) => `<rss version="2.0"><channel>${channel}</channel></rss>`

export const feedOf = (text: string, over: Partial<PageInput> = {}) =>
  readFeed({
    body: Buffer.from(text),
    isCut: false,
    contentType: null,
    contentLanguage: null,
    url: FEED_URL,
    ...over,
  })

/** Of a text that is known to be a feed. */
export function readingOf(text: string, url: string = FEED_URL) {
  const reading = feedOf(text, { url })
  if (!reading.ok) throw new Error(`${reading.reason}: ${reading.detail}`)
  return reading.value
}
