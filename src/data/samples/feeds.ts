// Two technology feeds that share a story: one RSS 2.0, one Atom 1.0.
import { atom, type MakePage, rss } from './page.ts'

interface Item {
  readonly id: string
  readonly title: string
  readonly link: string
  /** RFC 822 with the zone of its author. */
  readonly date: string
  readonly author: string
  readonly category: string
  readonly summary: string
}

const HARDWARE: readonly Item[] = [
  {
    id: 'hw-2026-0107',
    title: 'A kettle that reports its temperature over Matter',
    link: 'https://hardware.example/2026/kettle-matter?utm_source=rss&utm_medium=feed',
    date: 'Wed, 04 Feb 2026 09:30:00 +0100',
    author: 'desk@hardware.example (Ada Sample)',
    category: 'Kitchen',
    summary: 'The maker publishes the protocol, so that it works without its cloud. The lid holds the radio.',
  },
  {
    id: 'hw-2026-0106',
    title: 'Open board for soldering courses reaches revision C',
    link: 'https://hardware.example/2026/solder-board-c',
    date: 'Tue, 03 Feb 2026 18:05:00 GMT',
    author: 'desk@hardware.example (Ada Sample)',
    category: 'Boards',
    summary: 'Revision C moves the USB socket away from the edge and corrects two footprints.',
  },
  {
    id: 'hw-2026-0105',
    title: 'RISC-V laptop ships with a repair manual in the box',
    link: 'https://hardware.example/2026/riscv-laptop',
    date: 'Mon, 02 Feb 2026 07:00:00 -0500',
    author: 'desk@hardware.example (Lin Sample)',
    category: 'Laptops',
    summary: 'Every part has a number and a price. The battery comes out with four screws.',
  },
  {
    id: 'hw-2026-0104',
    title: 'Why e-paper refresh got three times faster',
    link: 'https://hardware.example/2026/e-paper',
    date: 'Fri, 30 Jan 2026 11:45:00 +0000',
    author: 'desk@hardware.example (Lin Sample)',
    category: 'Displays',
    summary: 'New waveforms update only the pixels that changed, and a full refresh is needed once a minute.',
  },
]

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const rssItem = ({ id, title, link, date, author, category, summary }: Item) => `    <item>
      <title>${escape(title)}</title>
      <link>${escape(link)}</link>
      <guid isPermaLink="false">${id}</guid>
      <pubDate>${date}</pubDate>
      <author>${author}</author>
      <category>${category}</category>
      <description><![CDATA[<p>${summary}</p>]]></description>
    </item>`

/** RSS 2.0 about hardware; it shares one story with the other feed. */
export const hardwareFeed: MakePage = (origin) =>
  rss(
    '/feeds/hardware.xml',
    `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel>
    <title>Sample Hardware News</title>
    <link>https://hardware.example/</link>
    <description>Invented news about things with screws.</description>
    <language>en</language>
    <copyright>Sample text, free to use</copyright>
    <lastBuildDate>Wed, 04 Feb 2026 10:00:00 +0100</lastBuildDate>
    <atom:link href="${origin}/feeds/hardware.xml" rel="self" type="application/rss+xml"/>
${HARDWARE.map(rssItem).join('\n')}
  </channel>
</rss>
`,
  )

interface Entry {
  readonly id: string
  readonly title: string
  readonly link: string
  readonly published: string
  readonly updated: string
  readonly author: string
  readonly summary: string
}

const SOFTWARE: readonly Entry[] = [
  {
    id: 'tag:software.example,2026:sw-12',
    title: 'A text editor learns to undo across restarts',
    link: 'https://software.example/editor-undo',
    published: '2026-02-04T08:00:00Z',
    updated: '2026-02-04T09:10:00Z',
    author: 'Kofi Sample',
    summary: 'History is kept beside the file and forgotten after thirty days.',
  },
  // The same story as in the other feed.
  {
    id: 'tag:software.example,2026:sw-11',
    title: 'A kettle that reports its temperature over Matter',
    link: 'https://hardware.example/2026/kettle-matter',
    published: '2026-02-04T08:35:00Z',
    updated: '2026-02-04T08:35:00Z',
    author: 'Kofi Sample',
    summary: 'Seen at our sister paper: a kettle with an open protocol.',
  },
  {
    id: 'tag:software.example,2026:sw-10',
    title: 'Package registry signs every index page',
    link: 'https://software.example/registry-signatures',
    published: '2026-02-02T15:20:00+02:00',
    updated: '2026-02-02T15:20:00+02:00',
    author: 'Noor Sample',
    summary: 'Clients can now tell a stale mirror from a wrong one. Old clients notice nothing.',
  },
  {
    id: 'tag:software.example,2026:sw-9',
    title: 'What a year of property tests found in a date library',
    link: 'https://software.example/date-properties',
    published: '2026-01-28T06:00:00Z',
    updated: '2026-01-29T06:00:00Z',
    author: 'Noor Sample',
    summary: 'Eleven bugs, nine of them about the last day of a month.',
  },
]

const atomEntry = ({ id, title, link, published, updated, author, summary }: Entry) => `  <entry>
    <id>${id}</id>
    <title>${escape(title)}</title>
    <link rel="alternate" type="text/html" href="${link}"/>
    <published>${published}</published>
    <updated>${updated}</updated>
    <author><name>${author}</name></author>
    <summary>${escape(summary)}</summary>
  </entry>`

/** Atom (RFC 4287) with entries about software. */
export const softwareFeed: MakePage = (origin) =>
  atom(
    '/feeds/software.xml',
    `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
  <id>tag:software.example,2026:feed</id>
  <title>Sample Software News</title>
  <link rel="alternate" href="https://software.example/"/>
  <link rel="self" href="${origin}/feeds/software.xml"/>
  <rights>Sample text, free to use</rights>
  <updated>2026-02-04T09:10:00Z</updated>
${SOFTWARE.map(atomEntry).join('\n')}
</feed>
`,
  )
