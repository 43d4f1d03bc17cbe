// One extractor over all pages of the corpora: a line of JSON for each page, beginning with the page whose number is given.
// `node bench/peers/extractors.ts ENGINE FIRST [--corpus DIR]`
import { writeSync } from 'node:fs'
import { decodeText } from '../../src/outbound/charset.ts'
import { blockTextOf } from '../block-text.ts'
import { findData, listPages } from '../corpora.ts'

type Extract = (body: Buffer, url: string) => string

const decode = (body: Buffer) => decodeText(body, undefined, { isCut: false, markup: 'html' }).text

/** Every peer at its best: the HTML that it found, as text in blocks. */
const ENGINES: Readonly<Record<string, () => Promise<Extract>>> = {
  async gateway() {
    const { readPage } = await import('../../src/outcomes/extract/page.ts')
    return (body, url) => {
      const reading = readPage({ body, isCut: false, contentType: 'text/html', contentLanguage: null, url })
      return reading.ok ? reading.value.document.text : ''
    }
  },
  async readability() {
    const { Readability } = await import('@mozilla/readability')
    const { parseHTML } = await import('linkedom')
    return (body) => blockTextOf(new Readability(parseHTML(decode(body)).document).parse()?.content ?? '')
  },
  async defuddle() {
    // Its types are those of an ES module, what is loaded is CommonJS.
    const { default: Defuddle } = (await import('defuddle')) as unknown as {
      default: new (document: object, options: { url: string }) => { parse(): { content: string } }
    }
    const { parseHTML } = await import('linkedom')
    return (body, url) => blockTextOf(new Defuddle(parseHTML(decode(body)).document, { url }).parse().content)
  },
}

/** One page; keeps no text, so that what was extracted is no memory of the engine. */
export interface Line {
  readonly text: string
  readonly failed: boolean
  readonly cpuMs: number
  /** Most so far. */
  readonly peakMb: number
}

const MB = 1024 * 1024
/** Read before anything is measured, so that the code is compiled: what every process has once it runs. */
const WARM_UP_PAGES = 3

async function measure(name: string, first: number): Promise<void> {
  const engine = await ENGINES[name]!()
  const pages = listPages(findData()!)
  const extract = ({ body, url }: { body: Buffer; url: string }) => {
    try {
      return engine(body, url)
    } catch {
      return undefined
    }
  }
  for (const page of pages.slice(0, WARM_UP_PAGES)) extract({ body: page.read(), url: page.url })
  const bodies = pages.slice(first).map((page) => ({ body: page.read(), url: page.url }))
  globalThis.gc?.()
  // The reader of the lines counts the time of a page from the line before it.
  writeSync(1, '\n')
  const baseMb = process.memoryUsage.rss() / MB
  let peakMb = 0
  for (const page of bodies) {
    const before = process.cpuUsage()
    const text = extract(page)
    const { user, system } = process.cpuUsage(before)
    peakMb = Math.max(peakMb, process.memoryUsage.rss() / MB - baseMb)
    const line: Line = {
      text: text ?? '',
      failed: text === undefined,
      cpuMs: (user + system) / 1000,
      peakMb,
    }
    writeSync(1, `${JSON.stringify(line)}\n`)
  }
}

const [engine = '', first = '0'] = process.argv.slice(2)
// Libraries report what they cannot read; only lines of JSON are wanted.
console.log = console.warn = console.error = () => {}
await measure(engine, Number(first))
