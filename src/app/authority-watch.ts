// What the use of the wrapping authority shows of its health, for the readiness of this process and for the operator's log. A record
// that does not open says nothing about the others.
import { randomBytes } from 'node:crypto'
import { type AuthorityFault, faultIn } from '../egress/authority/fault.ts'
import { KeyFileFault } from '../egress/authority/key-file-fault.ts'
import type { Authority } from '../egress/ports.ts'
import type { Logger } from '../lib/log.ts'

/** A key service that failed is asked again after so long: it counts, and logs, what it is asked. A key file is looked at as often. */
const AGAIN_MS = 5000

export type AuthorityState =
  | 'working'
  /** The key file is away, or another. What is stored opens with the keys in memory, and nothing is stored. */
  | 'file_unusable'
  /** It could not do what it was asked last. */
  | 'failing'

export interface AuthorityWatch {
  /** Asks anew where it is time to. A key service is asked for nothing as long as it works. */
  look(): Promise<void>
  /** What was seen last, whatever a look that is not finished may find. */
  state(): AuthorityState
}

type Step = 'open' | 'seal'

/** @returns the authority to use, and the watch over it */
export function watchAuthority<A extends Authority>(
  authority: A,
  { elapsedMs, log }: { readonly elapsedMs: () => number; readonly log: Pick<Logger, 'error' | 'info'> },
): { readonly authority: A; readonly watch: AuthorityWatch } {
  let failing: AuthorityFault | undefined
  let askedAt = -Infinity
  let trial: Promise<void> | undefined
  /** What the log says of a step now: one line for each change, however many calls meet it. */
  const told = new Map<Step, string>()
  /** Keys of single records that the log has named. */
  const toldOfRecords = new Set<string>()

  function note(step: Step, fault: AuthorityFault): void {
    failing = fault
    askedAt = elapsedMs()
    if (told.get(step) === fault.message) return
    told.set(step, fault.message)
    log.error({ step, reason: fault.reason }, fault.message)
  }
  function noteWell(...steps: readonly Step[]): void {
    failing = undefined
    for (const step of steps)
      if (told.delete(step))
        log.info({ step }, 'the authority that wraps the keys of credentials works again')
  }
  function noteRecord(kid: string, fault: AuthorityFault): void {
    // It may be the first sign of a rotation elsewhere: the next look is not put off.
    if (fault instanceof KeyFileFault) askedAt = -Infinity
    const line = `${kid} ${fault.message}`
    if (toldOfRecords.has(line)) return
    toldOfRecords.add(line)
    log.error({ kid, reason: fault.reason }, fault.message)
  }

  /** @param kid that the record is under; left out where none was opened */
  async function observed<T>(step: Step, work: () => Promise<T>, kid?: string): Promise<T> {
    try {
      const result = await work()
      // What keys in memory open says nothing of the file, and what opens nothing of the right to seal.
      if (kid === undefined || !(failing instanceof KeyFileFault))
        noteWell(...(step === 'seal' ? (['seal', 'open'] as const) : [step]))
      return result
    } catch (thrown) {
      const fault = faultIn(thrown)
      if (fault && fault.reason !== 'refused') {
        // What is wrapped in words for a caller comes from sealing.
        if (kid !== undefined && fault === thrown && isOfRecord(fault, kid)) noteRecord(kid, fault)
        else note(step, fault)
      }
      throw thrown
    }
  }
  /** An old version, or an old key, that is gone takes the records with it that are under it, and nothing else. */
  const isOfRecord = ({ reason }: AuthorityFault, kid: string) =>
    reason === 'authority_key' || (reason === 'key_missing' && kid !== authority.current().kid)

  async function seal(): Promise<void> {
    const binding = Buffer.from('readiness')
    const wrap = await authority.wrap(randomBytes(32), binding)
    await authority.unwrap(wrap, binding)
  }
  async function tryOut(): Promise<void> {
    askedAt = elapsedMs()
    const { check } = authority
    const work = failing === undefined && check ? check : seal
    await observed('seal', work).catch(() => {})
  }

  return {
    authority: {
      ...authority,
      wrap: (recordKey, binding) => observed('seal', () => authority.wrap(recordKey, binding)),
      unwrap: (wrapped, binding) => observed('open', () => authority.unwrap(wrapped, binding), wrapped.kid),
      rewrap: (wrapped, binding) => observed('seal', () => authority.rewrap(wrapped, binding), wrapped.kid),
    },
    watch: {
      async look() {
        // An unready process gets no calls whose success would show that the authority is back.
        const isDue =
          elapsedMs() - askedAt >= AGAIN_MS && (failing !== undefined || authority.check !== undefined)
        if (isDue) trial ??= tryOut().finally(() => (trial = undefined))
        await trial
      },
      state() {
        if (failing === undefined) return 'working'
        return failing instanceof KeyFileFault && !failing.lacksKey ? 'file_unusable' : 'failing'
      },
    },
  }
}
