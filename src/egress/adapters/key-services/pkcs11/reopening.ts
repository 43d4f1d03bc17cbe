// A token that is asked in turn, through one process after the other: what hangs, crashes or was restarted is left, and the next
// question begins anew. So a token that was away is used again once it is there, without anybody's help.
import { createHash } from 'node:crypto'
import type { Pkcs11Key } from '../../../../core/config.ts'
import { must } from '../../../../lib/must.ts'
import { TIMEOUT_MS } from '../limits.ts'
import { type Child, startChild } from './child.ts'
import { type Failure, TokenFault } from './messages.ts'
import { readPin } from './pin.ts'

/** To load the library and log in; tokens in a network take seconds for it. */
const OPEN_MS = 15_000
/** What a start came to is what the calls of the next second hear: a start is a process, and a login. */
const PAUSE_MS = 1_000
/** Questions that wait for a token that serves a few hundred a second. */
const MAX_WAITING = 1_024

export interface ReopeningToken {
  /** @returns the public point of the key. @throws {TokenFault} */
  open(): Promise<Buffer>
  /** @param peer a point on the curve. @returns the x-coordinate. @throws {TokenFault} */
  agree(peer: Buffer): Promise<Buffer>
  /** Ends the process; whoever waits is refused. */
  close(): Promise<void>
}

export interface TokenOptions {
  /** Variables of this process, of which the library's has those that are not the gateway's own. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** For one answer, and for how long whoever waits for one is kept. */
  readonly answerMs?: number
}

export function createReopeningToken(
  key: Pkcs11Key,
  { environment, answerMs = TIMEOUT_MS }: TokenOptions,
): ReopeningToken {
  let child: Child | undefined
  let point: Buffer | undefined
  /** Digest of a PIN that the token refused: trying it again would lock the token. */
  let refusedPin: string | undefined
  let failed: { readonly failure: Failure; readonly until: number } | undefined
  let isClosed = false
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  /** @param work is done to its end; whoever waits for it is not kept for longer than `maxMs` */
  async function inTurn<T>(maxMs: number, work: () => Promise<T>): Promise<T> {
    if (waiting >= MAX_WAITING) throw new TokenFault('unreachable', 'too many calls wait for it')
    waiting++
    let isLate = false
    const late = Promise.withResolvers<never>()
    const timeout = setTimeout(() => {
      isLate = true
      late.reject(new TokenFault('unreachable', `no answer in ${maxMs / 1000} s`))
    }, maxMs)
    const done = last.then(async () => {
      if (isLate) throw new TokenFault('unreachable', 'it is busy')
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

  async function start(): Promise<Child> {
    const pin = await readPin(key.pinFile)
    const digest = createHash('sha256').update(pin).digest('base64')
    if (digest === refusedPin)
      throw new TokenFault(
        'denied',
        `the token refused the PIN in ${key.pinFile}: it is not tried again until the file changes`,
      )
    if (failed && performance.now() < failed.until)
      throw new TokenFault(failed.failure.reason, failed.failure.code)
    if (isClosed) throw new TokenFault('unreachable', 'the gateway is shutting down')
    const started = startChild(environment)
    // At once, so that it is ended with everything else; nobody asks it before it is open, since all is done in turn.
    child = started
    try {
      const { modulePath, token } = key
      const found = await started.ask({ open: { modulePath, token, key: key.key }, pin }, OPEN_MS)
      // With another key of the same name nothing that is stored would open, and new secrets would go to a stranger's.
      if (point && !found.equals(point))
        throw new TokenFault('key_missing', 'there is another key in its place')
      point = found
      return started
    } catch (thrown) {
      await started.stop()
      if (thrown instanceof TokenFault) {
        failed = { failure: thrown.failure, until: performance.now() + PAUSE_MS }
        if (/^CKR_PIN_(?:INCORRECT|INVALID|LEN)/.test(thrown.failure.code)) refusedPin = digest
      }
      throw thrown
    }
  }
  async function ask(peer: Buffer): Promise<Buffer> {
    const open = child?.isAlive() ? child : await start()
    try {
      return await open.ask({ agree: peer }, answerMs)
    } catch (thrown) {
      // Whatever it is, a new process with a new login is where to begin; there is nothing in the old one to lose.
      await open.stop()
      throw thrown
    }
  }

  return {
    open: () =>
      inTurn(OPEN_MS, async () => {
        if (!child?.isAlive()) await start()
        return must(point, 'the point of a key that was found')
      }),
    agree: (peer) =>
      inTurn(answerMs, async () => {
        const isOld = child?.isAlive() === true
        try {
          return await ask(peer)
        } catch (thrown) {
          // The session of a token that was restarted is void. To agree again does nothing a second time.
          if (!isOld || !(thrown instanceof TokenFault) || thrown.failure.reason !== 'unreachable')
            throw thrown
          return await ask(peer)
        }
      }),
    async close() {
      isClosed = true
      await child?.stop()
    },
  }
}
