// The gateway's side of process.ts: asks one thing at a time, ends the process that does not answer, and starts another one for the
// next question. So a token that was away, or whose library crashed, is used again once it is there, without anybody's help.
import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Pkcs11Key } from '../../../../core/config.ts'
import { must } from '../../../../lib/must.ts'
import { isPrivateFile } from '../../../../lib/private-file.ts'
import { shellQuote } from '../../../../lib/shell-quote.ts'
import { TIMEOUT_MS } from '../limits.ts'
import type { Answer, Failure, Request } from './messages.ts'

/** To load the library and log in; tokens in a network take seconds for it. */
const OPEN_MS = 15_000
/** Questions that wait for a token that serves a few hundred a second. */
const MAX_WAITING = 1_024

export class TokenProcessFailure extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.code)
    this.failure = failure
  }
}

export interface TokenProcess {
  /** @returns the public point of the key. @throws {TokenProcessFailure} */
  open(): Promise<Buffer>
  /** @param peer a point on the curve. @returns the x-coordinate. @throws {TokenProcessFailure} */
  agree(peer: Buffer): Promise<Buffer>
  /** Ends the process; whoever waits is refused. */
  close(): Promise<void>
}

/** @param options.answerMs for one answer, and for how long whoever waits for one is kept */
export function createTokenProcess(key: Pkcs11Key, { answerMs = TIMEOUT_MS } = {}): TokenProcess {
  let running: Running | undefined
  let point: Buffer | undefined
  /** Digest of a PIN that the token refused: trying it again would lock the token. */
  let refusedPin: string | undefined
  let isClosed = false
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  /** @param work is done to its end; whoever waits for it is not kept for longer than `maxMs` */
  async function inTurn<T>(maxMs: number, work: () => Promise<T>): Promise<T> {
    if (waiting >= MAX_WAITING) throw fail('unreachable', 'too many calls wait for it')
    waiting++
    let isLate = false
    const late = Promise.withResolvers<never>()
    const timeout = setTimeout(() => {
      isLate = true
      late.reject(fail('unreachable', `no answer in ${maxMs / 1000} s`))
    }, maxMs)
    const done = last.then(async () => {
      if (isLate || isClosed)
        throw fail('unreachable', isClosed ? 'the gateway is shutting down' : 'it is busy')
      return work()
    })
    last = done.catch(() => {})
    try {
      return await Promise.race([done, late.promise])
    } finally {
      clearTimeout(timeout)
      waiting--
    }
  }

  async function start(): Promise<Running> {
    const pin = await readPin(key.pinFile)
    const digest = createHash('sha256').update(pin).digest('base64')
    if (digest === refusedPin)
      throw fail(
        'denied',
        `the token refused the PIN in ${key.pinFile}: it is not tried again until the file changes`,
      )
    const child = startProcess()
    try {
      const { modulePath, token } = key
      const found = await child.ask({ open: { modulePath, token, key: key.key }, pin }, OPEN_MS)
      // With another key of the same name nothing that is stored would open, and new secrets would go to a stranger's.
      if (point && !found.equals(point)) throw fail('key_missing', 'there is another key in its place')
      point = found
      running = child
      return child
    } catch (thrown) {
      await child.stop()
      if (
        thrown instanceof TokenProcessFailure &&
        /^CKR_PIN_(?:INCORRECT|INVALID|LEN)/.test(thrown.failure.code)
      )
        refusedPin = digest
      throw thrown
    }
  }
  async function ask(peer: Buffer): Promise<Buffer> {
    const child = running?.isAlive() ? running : await start()
    try {
      return await child.ask({ agree: peer }, answerMs)
    } catch (thrown) {
      // Whatever it is, a new process with a new login is where to begin; there is nothing in the old one to lose.
      await child.stop()
      throw thrown
    }
  }

  return {
    open: () =>
      inTurn(OPEN_MS, async () => {
        if (!running?.isAlive()) await start()
        return must(point, 'the point of a key that was found')
      }),
    agree: (peer) =>
      inTurn(answerMs, async () => {
        const isOld = running?.isAlive() === true
        try {
          return await ask(peer)
        } catch (thrown) {
          // The session of a token that was restarted is void. To agree again does nothing a second time.
          if (!isOld || !(thrown instanceof TokenProcessFailure) || thrown.failure.reason !== 'unreachable')
            throw thrown
          return await ask(peer)
        }
      }),
    async close() {
      isClosed = true
      await running?.stop()
    },
  }
}

const fail = (reason: Failure['reason'], code: string) => new TokenProcessFailure({ reason, code })

/** Read for each login, so that a PIN that was changed needs no restart. */
async function readPin(file: string): Promise<string> {
  let text: string
  try {
    if (!isPrivateFile(await stat(file)))
      throw fail('denied', `only its owner may read the PIN: chmod 600 ${shellQuote(file)}`)
    text = await readFile(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof TokenProcessFailure) throw thrown
    throw fail('denied', `${file} cannot be read by this user`)
  }
  const pin = text.replace(/\r?\n$/, '')
  if (pin === '') throw fail('denied', `no PIN in ${file}`)
  return pin
}

interface Running {
  isAlive(): boolean
  /** One at a time. @throws {TokenProcessFailure} */
  ask(request: Request, maxMs: number): Promise<Buffer>
  stop(): Promise<void>
}

function startProcess(): Running {
  const child: ChildProcess = fork(processUrl(), [], {
    // Libraries are configured by variables of their own; the gateway's hold secrets.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GATEWAY_'))),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
  })
  let asked: PromiseWithResolvers<Buffer> | undefined
  let isGone = false
  const gone = Promise.withResolvers<void>()

  function end(code: string): void {
    if (isGone) return
    isGone = true
    asked?.reject(fail('unreachable', code))
    gone.resolve()
  }
  child.on('message', (message) => {
    const answer = message as Answer
    if (answer.ok) asked?.resolve(Buffer.from(answer.bytes))
    else asked?.reject(fail(answer.reason, answer.code))
  })
  // A process without an id was never started, and has no exit.
  child.on('error', () => child.pid === undefined && end('its process does not start'))
  child.on('exit', (code, signal) => end(`its library ended: ${signal ?? `exit ${code}`}`))
  keepAlive(false)

  /** Nothing keeps the gateway alive but an answer that somebody waits for. */
  function keepAlive(isNeeded: boolean): void {
    for (const part of [child, child.channel])
      if (isNeeded) part?.ref()
      else part?.unref()
  }

  return {
    isAlive: () => !isGone && child.connected,
    async ask(request, maxMs) {
      const answer = Promise.withResolvers<Buffer>()
      asked = answer
      if (isGone) throw fail('unreachable', 'its process is gone')
      const timer = setTimeout(() => child.kill('SIGKILL'), maxMs)
      keepAlive(true)
      // One that cannot be reached any more is about to be gone.
      child.send(request, () => {})
      try {
        return await answer.promise
      } finally {
        clearTimeout(timer)
        asked = undefined
        keepAlive(false)
      }
    },
    async stop() {
      if (!isGone) child.ref()
      child.kill('SIGKILL')
      await gone.promise
    },
  }
}

function processUrl(): URL {
  // This file is src/egress/adapters/key-services/pkcs11/token-process.ts when run from source; bundled, it is in a chunk beside token-process.js.
  return import.meta.url.endsWith('.ts')
    ? new URL('./process.ts', import.meta.url)
    : new URL('./token-process.js', import.meta.url)
}
