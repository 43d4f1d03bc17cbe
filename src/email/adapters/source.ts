// Brings the list that the operator names: from a file, or a URL that is downloaded once. Run by the command line, on the
// operator's word; no caller of the gateway reaches this.
import { readFile, stat } from 'node:fs/promises'
import { GatewayError } from '../../core/errors.ts'
import { MAX_LIST_BYTES, type RefreshReport, REFRESH_URL, storeRefreshedList } from './refreshed.ts'

const DOWNLOAD_MS = 60_000

/**
 * `agent-gateway email lists refresh`: reads, checks and puts the list in place. A running gateway has it within a minute.
 * @param from file or https URL; the maintained upstream list where it is left out
 * @throws GatewayError input_invalid (no such list; the one before stays), upstream_unreachable (no answer)
 */
export async function refreshLists(input: {
  readonly dataDir: string
  readonly from?: string | undefined
  readonly now: number
  readonly signal?: AbortSignal | undefined
}): Promise<RefreshReport> {
  const from = input.from ?? REFRESH_URL
  const isUrl = /^[a-z][a-z0-9+.-]+:\/\//i.test(from)
  const text = isUrl ? await download(from, input.signal) : await readList(from)
  return storeRefreshedList({ dataDir: input.dataDir, text, from, now: input.now })
}

async function readList(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_LIST_BYTES) throw tooLong()
    return await readFile(path, 'utf8')
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw new GatewayError('input_invalid', `${path} cannot be read. Name a file with one domain a line.`, {
      cause: thrown,
    })
  }
}

async function download(url: string, signal: AbortSignal | undefined): Promise<string> {
  if (!URL.canParse(url) || !isAllowed(new URL(url)))
    throw new GatewayError('input_invalid', 'Use an https URL, or the name of a file.')
  const deadline = AbortSignal.timeout(DOWNLOAD_MS)
  let response: Response
  try {
    response = await fetch(url, { signal: signal ? AbortSignal.any([signal, deadline]) : deadline })
    if (response.ok && response.body) return await readBounded(response.body)
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw unreachable(url, thrown)
  }
  throw unreachable(url, new Error(`status ${response.status}`))
}

/** Plain http only to this machine. */
const isAllowed = ({ protocol, hostname }: URL) =>
  protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > MAX_LIST_BYTES) throw tooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const tooLong = () =>
  new GatewayError('input_invalid', `A list has at most ${MAX_LIST_BYTES / 1024 / 1024} MiB.`)

const unreachable = (url: string, cause: unknown) =>
  new GatewayError(
    'upstream_unreachable',
    `${new URL(url).host} did not send the list. Download it another way and name the file with --from.`,
    { cause },
  )
