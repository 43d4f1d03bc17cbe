// The list of disposable domains that the operator downloaded: checked before it counts, replaced as a whole, kept in the
// data directory beside the operator's documents. It adds to the installed lists and takes nothing away from them.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { GatewayError } from '../../core/errors.ts'
import { toAscii } from '../domain.ts'
import { PROVIDERS, RELAYS } from '../providers.ts'

export interface RefreshedList {
  /** The origin of the list and its day, as an answer cites them. */
  readonly name: string
  readonly date: string
  readonly names: readonly string[]
}

export interface RefreshReport {
  readonly file: string
  readonly domains: number
  /** Compared with the list that was there before. */
  readonly added: number
  readonly removed: number
  /** Lines that are no domain. */
  readonly ignored: number
  /** Providers and relays that a list of disposable domains must not have; they were left out. */
  readonly protected: readonly string[]
}

/** The maintained upstream of the curated list. */
export const REFRESH_URL =
  'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf'

const FILE = 'email-disposable.txt'
export const MAX_LIST_BYTES = 16 * 1024 * 1024
const MAX_DOMAINS = 500_000
/** Less is an error page, or half of a download. */
const MIN_DOMAINS = 100
const MAX_IGNORED_SHARE = 0.02

/** The file of the refreshed list in a data directory. */
export const refreshedFile = (dataDir: string) => join(dataDir, FILE)

/**
 * Checks a downloaded list and puts it in the place of the one before.
 * @param text one domain a line, # for comments; or a JSON array of domains
 * @param from file or URL, cited in answers by its host or file name
 * @throws GatewayError input_invalid: it is no such list; what was there before stays
 */
export async function storeRefreshedList(input: {
  readonly dataDir: string
  readonly text: string
  readonly from: string
  readonly now: number
}): Promise<RefreshReport> {
  const { names, ignored, kept } = checkList(input.text)
  const before = new Set((await readRefreshedList(input.dataDir))?.names)
  const file = refreshedFile(input.dataDir)
  const date = new Date(input.now).toISOString().slice(0, 10)
  const head = `# ${JSON.stringify({ name: nameSource(input.from), date })}\n`
  await replaceFile(input.dataDir, file, `${head}${names.join('\n')}\n`)
  const added = names.filter((name) => !before.has(name)).length
  return {
    file,
    domains: names.length,
    added,
    removed: before.size - (names.length - added),
    ignored,
    protected: kept,
  }
}

/** Undefined where none was ever refreshed. A file that was damaged by hand counts as none. */
export async function readRefreshedList(dataDir: string): Promise<RefreshedList | undefined> {
  let text: string
  try {
    text = await readFile(refreshedFile(dataDir), 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
  const end = text.indexOf('\n')
  try {
    const { name, date } = JSON.parse(text.slice(2, end)) as { name: unknown; date: unknown }
    if (typeof name !== 'string' || typeof date !== 'string') return undefined
    return { name, date, names: checkList(text).names }
  } catch {
    return undefined
  }
}

/** Changes when the list does; undefined without one. */
export async function stampOfRefreshedList(dataDir: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(refreshedFile(dataDir))
    return `${ino} ${mtimeMs} ${size}`
  } catch {
    return undefined
  }
}

function checkList(text: string): { names: string[]; ignored: number; kept: string[] } {
  if (text.length > MAX_LIST_BYTES) throw refuse(`A list has at most ${MAX_LIST_BYTES / 1024 / 1024} MiB.`)
  const entries = toEntries(text)
  const names = new Set<string>()
  const kept = new Set<string>()
  let ignored = 0
  for (const entry of entries) {
    const name = toAscii(entry)
    if (name === undefined) ignored++
    else if (protectedNames.has(name)) kept.add(name)
    else names.add(name)
  }
  if (ignored > entries.length * MAX_IGNORED_SHARE)
    throw refuse(`${ignored} of its ${entries.length} entries are no domains. Send one domain a line.`)
  if (names.size < MIN_DOMAINS)
    throw refuse(`It has ${names.size} domains; a list of disposable domains has at least ${MIN_DOMAINS}.`)
  if (names.size > MAX_DOMAINS) throw refuse(`It has more than ${MAX_DOMAINS} domains.`)
  return { names: [...names].sort(), ignored, kept: [...kept].sort() }
}

const protectedNames = new Set([...PROVIDERS, ...RELAYS])
const refuse = (why: string) =>
  new GatewayError('input_invalid', `This is no list of disposable domains. ${why}`)

function toEntries(text: string): string[] {
  if (text.trimStart().startsWith('[')) {
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      throw refuse('It begins like JSON, and is not.')
    }
    return (parsed as unknown[]).map(String)
  }
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
}

/** The name that an answer may show: no path of this machine, no query of a URL. */
function nameSource(from: string): string {
  if (URL.canParse(from) && /^https?:/i.test(from)) return new URL(from).host
  return from.replace(/^.*[\\/]/s, '').slice(0, 100)
}

/** Either the old list or the new one is there after a crash. */
async function replaceFile(dir: string, path: string, text: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const aside = `${path}.${process.pid}.${randomUUID()}.tmp`
  try {
    const file = await open(aside, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(aside, path)
  } catch (thrown) {
    await rm(aside, { force: true })
    throw thrown
  }
}
