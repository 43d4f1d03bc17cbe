// Programs of other people, each started by `agent-gateway run` as its user would start it, before one upstream that stands for the internet.
// Each has a home and a temp folder of its own, so that all it wrote can be searched.
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { COMMAND } from './cli.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST, type WorldOptions } from './gateway.ts'
import { finish, type Finished } from './process.ts'
import { removeFolder } from './remove-folder.ts'
import type { ReceivedRequest } from './upstream.ts'

/** Programs that no package manager of the system has, where `.ci/run` puts them; they are found behind the system's own. */
const RUNTIMES = process.env['TEST_PROGRAMS_PATH'] ?? ''
/** The system's programs, not those that somebody keeps in a home folder. */
const PATH = ['/usr/bin', '/bin', RUNTIMES].filter((folder) => folder !== '').join(':')

export interface RunSummary {
  readonly hosts: readonly { host: string; attempts: number; credits: number; receipts: number }[]
  readonly attempts: readonly {
    attempt_id: string
    state: string
    credits_charged: number
    receipt_id: string
  }[]
}

export interface Ran extends Finished {
  readonly summary: RunSummary
  /** What the upstream received during the run. */
  readonly received: readonly ReceivedRequest[]
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  /**
   * Attempts that the program makes; each is proven to have carried the secret, and to have a receipt. Without it as many as the upstream
   * counts, and one at least.
   */
  readonly attempts?: number
  /** Exit code that is expected; 0 unless given. */
  readonly code?: number
}

export interface RunWorld {
  readonly gw: TestGateway
  /** Of the programs; relative names in their arguments are in there. */
  readonly folder: string
  /** `api.example.com:port`. */
  readonly host: string
  url(path: string): string
  /** Runs the program to its end, and checks what is so of every run. */
  run(credential: string, command: readonly string[], options?: RunOptions): Promise<Ran>
  close(): Promise<void>
}

/** @param options.secrets that no program may see, in any of the spellings that are named */
export async function startRunWorld(
  options: WorldOptions & {
    readonly isSigned?: (request: ReceivedRequest) => boolean
    readonly secrets: readonly string[]
  },
): Promise<RunWorld> {
  const { isSigned, secrets, ...worldOptions } = options
  const gw = await startTestGateway({
    ...worldOptions,
    env: { GATEWAY_SERVICE_KEY_CREDITS: '1000', ...worldOptions.env },
  })
  const folder = await mkdtemp(join(tmpdir(), 'programs-'))
  await Promise.all(['home', 'tmp'].map((name) => mkdir(join(folder, name))))
  const summaries = await mkdtemp(join(tmpdir(), 'summaries-'))
  const carries =
    isSigned ?? (({ headers }) => headers.some(([, value]) => secrets.some((one) => value.includes(one))))
  let runs = 0

  async function verify({ receipt_id, attempt_id }: RunSummary['attempts'][number]): Promise<void> {
    const { jws } = (await gw.rest('GET', `/v1/receipts/${receipt_id}`, undefined, '')).body
    const jwks = (await gw.rest('GET', '/.well-known/gateway-egress-key.json')).body
    const verdict = await verifyJws(jws, jwks, JWS_TYPES.receipt)
    expect(verdict).toMatchObject({ ok: true, payload: { attempt_id } })
  }

  return {
    gw,
    folder,
    host: `${UPSTREAM_HOST}:${gw.upstream.port}`,
    url: gw.url,
    async run(credential, command, { env = {}, flags = [], code = 0, ...expected } = {}) {
      const file = join(summaries, `${++runs}.json`)
      const before = gw.upstream.requests.length
      const balance = await gw.balance()
      const ended = await finish(
        process.execPath,
        [COMMAND, 'run', '--credential', credential, '--summary', file, ...flags, '--', ...command],
        {
          cwd: folder,
          env: {
            PATH,
            HOME: join(folder, 'home'),
            TMPDIR: join(folder, 'tmp'),
            LC_ALL: 'C.UTF-8',
            NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
            GATEWAY_BASE_URL: gw.baseUrl,
            GATEWAY_OPERATOR_KEY: gw.operatorKey,
            GATEWAY_DATA_DIR: join(summaries, 'data'),
            GATEWAY_EGRESS_PORTS: gw.env['GATEWAY_EGRESS_PORTS']!,
            GATEWAY_DNS_SERVERS: gw.env['GATEWAY_DNS_SERVERS']!,
            ...env,
          },
        },
      )
      // All that it said belongs into the message of a failure.
      expect({ ...ended, code: ended.code }).toMatchObject({ code })
      const summary = JSON.parse(await readFile(file, 'utf8')) as RunSummary
      const received = gw.upstream.requests.slice(before)
      const attempts = expected.attempts ?? Math.max(1, received.length)
      expect(received.filter(carries)).toHaveLength(attempts)
      expect(received).toHaveLength(attempts)
      expect(summary.attempts).toHaveLength(attempts)
      expect(balance - (await gw.balance())).toBe(attempts)
      for (const attempt of summary.attempts) await verify(attempt)
      for (const secret of secrets) {
        expect(ended.stdout.includes(secret)).toBe(false)
        expect(ended.stderr.includes(secret)).toBe(false)
        expect(await filesWith(folder, secret)).toEqual([])
      }
      return { ...ended, summary, received }
    },
    async close() {
      await gw.close()
      await Promise.all([removeFolder(folder), removeFolder(summaries)])
    },
  }
}

/** @returns names of the files below the folder that hold the text */
async function filesWith(folder: string, text: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await readFile(path)).includes(text)) found.push(path)
  }
  return found
}
