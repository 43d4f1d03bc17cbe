// Learns when a domain was registered, from the one source that the operator configured: a file of days, or an RDAP server
// (RFC 9082) that is told the registrable domain and nothing else. What it does not say, or not in time, is undefined.
import { readFile, stat } from 'node:fs/promises'
import { createSemaphore } from '../../lib/semaphore.ts'
import { type DatedDomains, readDatedDomains, readRegistration } from '../age.ts'
import { createMemory } from '../cache.ts'
import type { DomainAges } from '../ports.ts'
import { sendVetted, type VettedParts } from './vetted-request.ts'
import { isFresh } from '../../lib/fresh.ts'

const TIMEOUT_MS = 1_000
const MAX_ANSWER_BYTES = 256 * 1024
const MAX_IN_FLIGHT = 8
const MAX_REMEMBERED = 20_000
const MAX_HOPS = 3
/** A registration does not change; a registry that does not know a name may know it soon. */
const KNOWN_SECONDS = 86_400
const UNKNOWN_SECONDS = 3_600
const FAILED_SECONDS = 60

const FRESH_MS = 30_000
const MAX_FILE_BYTES = 16 * 1024 * 1024

export interface RdapParts extends VettedParts {
  /** https; the path of a name is put behind it: `https://rdap.example/` asks `https://rdap.example/domain/acme.io`. */
  readonly url: string
  readonly now: () => number
}

/** Never throws. A redirect is followed where it leads to https: servers for all domains send on to the registry's. */
export function createRdapAges(parts: RdapParts): DomainAges {
  const semaphore = createSemaphore(MAX_IN_FLIGHT)
  const memory = createMemory<{ readonly at: number | undefined }>({
    maxEntries: MAX_REMEMBERED,
    now: parts.now,
  })
  /** A batch may have a hundred addresses of one domain: it is asked about once. */
  const running = new Map<string, Promise<number | undefined>>()
  const base = parts.url.replace(/\/$/, '')

  async function ask(domain: string): Promise<[at: number | undefined, seconds: number]> {
    let url = `${base}/domain/${domain}`
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      const response = await sendVetted(parts, {
        method: 'GET',
        url,
        headers: [['accept', 'application/rdap+json, application/json']],
        body: undefined,
        partition: 'domain-age',
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: MAX_ANSWER_BYTES,
      })
      if (response?.status === 404) return [undefined, UNKNOWN_SECONDS]
      if (response?.status === 200) {
        const at = readRegistration(JSON.parse(response.body.toString('utf8')))
        return [at, at === undefined ? UNKNOWN_SECONDS : KNOWN_SECONDS]
      }
      const next = response && isRedirect(response.status) ? locationOf(response.headers, url) : undefined
      if (next === undefined) break
      url = next
    }
    return [undefined, FAILED_SECONDS]
  }

  async function learn(domain: string): Promise<number | undefined> {
    const release = await semaphore.acquire(TIMEOUT_MS)
    if (!release) return undefined
    try {
      const [at, seconds] = await ask(domain).catch((): [undefined, number] => [undefined, FAILED_SECONDS])
      memory.keep(domain, { at }, seconds)
      return at
    } finally {
      release()
    }
  }

  return {
    async registeredAt(domain) {
      const known = memory.recall(domain)
      if (known) return known.value.at
      let answer = running.get(domain)
      if (!answer) {
        answer = learn(domain).finally(() => running.delete(domain))
        running.set(domain, answer)
      }
      return answer
    },
  }
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

function locationOf(
  headers: readonly { readonly name: string; readonly value: string }[],
  from: string,
): string | undefined {
  const value = headers.find(({ name }) => name === 'location')?.value
  if (value === undefined || !URL.canParse(value, from)) return undefined
  const { href, protocol } = new URL(value, from)
  return protocol === 'https:' ? href : undefined
}

export interface FileParts {
  readonly path: string
  readonly now: () => number
  /** What is wrong with the file, once for each of its versions. */
  readonly report: (problem: string) => void
}

/** Never throws. The file is read again where it changed, at most every half minute. */
export function createFileAges({ path, now, report }: FileParts): DomainAges {
  let dated: DatedDomains['dates'] = new Map()
  let stamp: string | undefined
  let loading: Promise<void> | undefined
  let lookedAt = -Infinity

  async function load(): Promise<void> {
    try {
      const { mtimeMs, size, ino } = await stat(path)
      const found = `${ino} ${mtimeMs} ${size}`
      if (found === stamp) return
      stamp = found
      if (size > MAX_FILE_BYTES) throw new RangeError(`it has more than ${MAX_FILE_BYTES / 1024 / 1024} MiB`)
      const { dates, ignored } = readDatedDomains(await readFile(path, 'utf8'))
      dated = dates
      if (ignored > 0) report(`GATEWAY_EMAIL_DOMAIN_AGE: ${ignored} lines are no domain with a day.`)
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      if (stamp !== why) report(`GATEWAY_EMAIL_DOMAIN_AGE: the file was not read, ${why}.`)
      if (!(thrown instanceof RangeError)) stamp = why
    }
  }

  return {
    async registeredAt(domain) {
      if (!isFresh(lookedAt, now(), FRESH_MS)) {
        lookedAt = now()
        loading = load()
      }
      await loading
      return dated.get(domain)
    },
  }
}
