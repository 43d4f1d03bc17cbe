// How much of what a feed says is read right, and how fast: the expectations that stand at the top of the files in
// `<data>/feeds`, compared as text. A third of the files, chosen by the hash of the name, is kept out of tuning.
// `node bench/feeds.ts [--corpus DIR] [--failures]`
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FeedDate } from '../src/outcomes/feeds/dates.ts'
import { readVisible } from '../src/outcomes/feeds/html-text.ts'
import type { Construct, Described, ParsedFeed } from '../src/outcomes/feeds/model.ts'
import { parseFeed } from '../src/outcomes/feeds/parse.ts'
import { findData, isHeldOut } from './corpora.ts'
import { printTable } from './support.ts'

const FOLDER = join(findData() ?? '', 'feeds')
const TARGET = 0.92
const ORIGIN = 'http://127.0.0.1:8097/'
const showFailures = process.argv.includes('--failures')

if (!existsSync(FOLDER)) {
  console.log('No feeds: name the folder that holds `feeds` with --corpus or GATEWAY_BENCH_DATA.')
  process.exit(0)
}

/** One equality: where it looks and what stands there. */
interface Expectation {
  readonly entry: number | undefined
  readonly field: string
  readonly want: string | readonly number[]
}

const EQUALITY =
  /(feed|entries\[(\d+)\])(?:\.(\w+)|\[['"](\w+)['"]\])((?:\[(?:0|['"]\w+['"])\])*)\s*==\s*(?:u?(?<quote>'''|"""|'|")((?:\\.|(?!\k<quote>)[^])*)\k<quote>(?<more>(?:\s*\+\s*'(?:\\.|[^'\\])*')*)|\(([\d, ]+)\))/g

function readExpectations(line: string): Expectation[] {
  return [...line.matchAll(EQUALITY)].map((match) => {
    const [, , entry, dotted, quoted, rest = '', , text] = match
    const more = [...(match.groups!['more'] ?? '').matchAll(/'((?:\\.|[^'\\])*)'/g)].map(([, part]) => part!)
    return {
      entry: entry === undefined ? undefined : Number(entry),
      field: `${dotted ?? quoted}${rest.replace(/\[['"]?(\w+)['"]?\]/g, '.$1')}`,
      want: text === undefined ? match[9]!.split(',').map(Number) : unescapePython(text + more.join('')),
    }
  })
}

const unescapePython = (text: string) =>
  text
    .replace(/\\u([\da-f]{4})|\\x([\da-f]{2})/gi, (_, wide: string, byte: string) =>
      String.fromCharCode(Number.parseInt(wide ?? byte, 16)),
    )
    .replace(/\\([ntr'"\\])/g, (_, char: string) => ({ n: '\n', t: '\t', r: '\r' })[char] ?? char)

/** Null: the model has no such field. Undefined: it has, but nothing in it. */
type Got = string | readonly number[] | undefined | null

const textOf = (construct: Construct | null): string | undefined =>
  construct ? readVisible(construct, Number.POSITIVE_INFINITY).text : undefined

function pick(feed: ParsedFeed, { entry, field }: Expectation): Got {
  const at: Described | undefined = entry === undefined ? feed : feed.entries[entry]
  const date = (value: FeedDate | null | undefined) => value?.raw
  const parsed = (value: FeedDate | null | undefined): Got =>
    value?.epochMs == null ? undefined : toTuple(new Date(value.epochMs))
  const person = at?.authors[0]
  switch (field) {
    case 'title':
    case 'title_detail.value':
      return textOf(at?.title ?? null)
    case 'summary':
    case 'summary_detail.value':
    case 'description':
    case 'tagline':
    case 'tagline_detail.value':
    case 'subtitle':
    case 'subtitle_detail.value':
      return textOf(at?.summary ?? at?.content ?? null)
    case 'content.0.value':
    case 'info':
    case 'info_detail.value':
      return textOf(at?.content ?? at?.summary ?? null)
    case 'rights':
    case 'copyright':
    case 'copyright_detail.value':
    case 'rights_detail.value':
      return textOf(at?.rights ?? null)
    case 'link':
    case 'links.0.href':
      return at?.link ?? undefined
    case 'id':
    case 'guid':
      return at?.id ?? undefined
    case 'author':
      return person?.name && person.email
        ? `${person.name} (${person.email})`
        : (person?.name ?? person?.email ?? undefined)
    case 'author_detail.name':
    case 'authors.0.name':
      return person?.name ?? undefined
    case 'author_detail.email':
    case 'authors.0.email':
      return person?.email ?? undefined
    case 'author_detail.url':
    case 'author_detail.href':
      return person?.url ?? undefined
    case 'updated':
    case 'modified':
      return date(at?.updated ?? at?.date)
    case 'updated_parsed':
    case 'modified_parsed':
      return parsed(at?.updated ?? at?.date)
    case 'published':
      return date(at?.published)
    case 'published_parsed':
      return parsed(at?.published)
    case 'created':
      return date(at?.created)
    case 'created_parsed':
      return parsed(at?.created)
    case 'language':
      return at?.language ?? undefined
    default:
      return null
  }
}

const toTuple = (date: Date) => [
  date.getUTCFullYear(),
  date.getUTCMonth() + 1,
  date.getUTCDate(),
  date.getUTCHours(),
  date.getUTCMinutes(),
  date.getUTCSeconds(),
]

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}
const collapse = (text: string) => text.replace(/\s+/g, ' ').trim()
const strip = (text: string) =>
  collapse(
    text
      .replace(/<!--[^]*?-->/g, ' ')
      .replace(/<\/?[a-z][^>]*>/gi, ' ')
      .replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal: string, hex: string, name: string) =>
        name
          ? (NAMED[name] ?? all)
          : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16)),
      ),
  )

/** Ours is text. What is expected is HTML where the feed says so, and we do not know whether it does. */
function holds(want: Expectation['want'], got: Exclude<Got, null>, isAddress: boolean): boolean {
  if (typeof want !== 'string') return Array.isArray(got) && got.every((value, i) => value === want[i])
  if (typeof got !== 'string')
    return want !== '' && got === undefined && strip(want) === '' && /[<&]/.test(want)
  // Addresses are compared as addresses: hosts have no case, and ours are written as the URL standard has them.
  if (isAddress && URL.canParse(got) && URL.canParse(want)) return new URL(got).href === new URL(want).href
  const ours = collapse(got).replaceAll(' ', '')
  return ours === strip(want).replaceAll(' ', '') || ours === collapse(want).replaceAll(' ', '')
}

interface Tally {
  holds: number
  of: number
  holdsWithText: number
  ofWithText: number
}
const tally = (): Tally => ({ holds: 0, of: 0, holdsWithText: 0, ofWithText: 0 })
const parts: Record<'tuning' | 'held out', Tally> = { tuning: tally(), 'held out': tally() }
/** What is expected there is HTML as feedparser's own sanitiser leaves it, with words of scripts and comments that no reader sees. */
const OF_SANITISER = /^sanitize__/
const apart = { 'what feeds say': tally(), "what feedparser's sanitiser leaves": tally() }
const byField = new Map<string, Tally>()
const refused = new Map<string, string[]>()
const failures: string[] = []
let files = 0
let thrown = 0
let bytes = 0
let unmapped = 0
let cpuMs = 0

for (const group of ['wellformed', 'illformed'])
  for (const name of readdirSync(join(FOLDER, group)).toSorted()) {
    if (!name.endsWith('.xml')) continue
    files++
    const body = readFileSync(join(FOLDER, group, name))
    bytes += body.length
    // Header lines stand in the comment as the server of the original suite would have sent them.
    const comment = body.subarray(0, 4096).toString('latin1')
    const location = /^Header:\s*Content-Location:\s*(\S+)/m.exec(comment)?.[1]
    const type = /^Header:\s*Content-type:\s*(.+)$/im.exec(comment)?.[1] ?? 'application/xml'
    const contentLanguage = /^Header:\s*Content-Language:\s*(\S+)/im.exec(comment)?.[1] ?? null
    const url =
      location !== undefined && /^https?:/.test(location) ? location : `${ORIGIN}tests/${group}/${name}`
    const before = process.cpuUsage()
    let parsing: ReturnType<typeof parseFeed>
    try {
      parsing = parseFeed({ body, isCut: false, contentType: type, contentLanguage, url })
    } catch (error) {
      thrown++
      failures.push(`${group}/${name}: threw ${String(error)}`)
      continue
    } finally {
      const used = process.cpuUsage(before)
      cpuMs += (used.user + used.system) / 1000
    }
    if (!parsing.ok) refused.set(parsing.reason, [...(refused.get(parsing.reason) ?? []), `${group}/${name}`])
    const line = /^\s*Expect:\s*(.*)$/m.exec(body.toString('utf8'))?.[1] ?? ''
    for (const expectation of readExpectations(line)) {
      const got = parsing.ok ? pick(parsing.feed, expectation) : undefined
      if (got === null) {
        unmapped++
        continue
      }
      const isRight = holds(expectation.want, got, /^links?\b|\.(?:url|href)$/.test(expectation.field))
      const field = expectation.field.replace(/\.\d+|_detail|_parsed/g, '')
      if (!byField.has(field)) byField.set(field, tally())
      const hasText = typeof expectation.want !== 'string' || strip(expectation.want) !== ''
      const part = isHeldOut(name) ? 'held out' : 'tuning'
      const about = OF_SANITISER.test(name) ? "what feedparser's sanitiser leaves" : 'what feeds say'
      for (const count of [parts[part], apart[about], byField.get(field)!]) {
        count.of++
        if (hasText) count.ofWithText++
        if (isRight) count.holds++
        if (isRight && hasText) count.holdsWithText++
      }
      if (!isRight && part === 'tuning')
        failures.push(
          `${group}/${name}: ${expectation.field}: ${JSON.stringify(got)} is not ${JSON.stringify(expectation.want)}`,
        )
    }
  }

const share = (part: number, whole: number) => (whole === 0 ? '' : (part / whole).toFixed(3))
const row = (name: string, count: Tally) => [
  name,
  count.of,
  share(count.holds, count.of),
  count.ofWithText,
  share(count.holdsWithText, count.ofWithText),
]
const sum = (counts: readonly Tally[]): Tally => ({
  holds: counts.reduce((total, count) => total + count.holds, 0),
  of: counts.reduce((total, count) => total + count.of, 0),
  holdsWithText: counts.reduce((total, count) => total + count.holdsWithText, 0),
  ofWithText: counts.reduce((total, count) => total + count.ofWithText, 0),
})
const all = sum(Object.values(parts))
printTable(
  `Expectations that hold, ${files} files`,
  ['part', 'all', 'hold', 'with text', 'hold'],
  [
    row('tuning', parts.tuning),
    row('held out', parts['held out']),
    row('both', all),
    ...Object.entries(apart).map(([name, count]) => row(name, count)),
  ],
)
printTable(
  'By field',
  ['field', 'all', 'hold', 'with text', 'hold'],
  [...byField].toSorted(([, a], [, b]) => b.of - a.of).map(([name, count]) => row(name, count)),
)
console.log(
  `\n${unmapped} expectations are about other things (tags, enclosures, geo, …) and are not counted`,
)
console.log(`${thrown} exceptions; ${cpuMs.toFixed(0)} ms of CPU for ${(bytes / 1024).toFixed(0)} KiB`)
for (const [reason, names] of refused)
  console.log(`${reason}: ${names.length} (${names.slice(0, 3).join(', ')})`)
if (showFailures) console.log(`\n${failures.join('\n')}`)
const isGood =
  thrown === 0 && all.holds / all.of >= TARGET && parts['held out'].holds / parts['held out'].of >= TARGET
if (!isGood) console.log(`below the target of ${TARGET}`)
process.exitCode = isGood ? 0 : 1
