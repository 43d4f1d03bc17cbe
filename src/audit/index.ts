// The audit log as the gateway runs it: refusals in, signed heads each minute, pages out.
import { digestCanonical } from '../lib/canonical-json.ts'
import { within } from '../lib/deadline.ts'
import { LogField } from '../lib/log.ts'
import type { RefusalWatch } from '../core/refusal-watch.ts'
import { digestText } from '../store/documents/text-digest.ts'
import type { DocumentKind, DocumentStore, Store } from '../store/ports.ts'
import { INSTALLATION_CHAIN } from '../store/ports/audit.ts'
import { BEGINNING, createHeads, type HeadParts } from './heads.ts'
import type { Audit } from './ports.ts'
import { describeRefusal } from './refusals.ts'
import { createRepetitions } from './repetitions.ts'
import { searchEvents, toEvent } from './search.ts'

export interface AuditParts extends HeadParts {
  readonly store: Store
  readonly documents: Pick<DocumentStore, 'read' | 'readText'>
  /** Documents in which operators say what is allowed: an edit of one is an event. */
  readonly policies: readonly DocumentKind<unknown>[]
  /** How long the end waits for signatures. */
  readonly closeMs?: number
}

export interface OpenAudit extends Audit, RefusalWatch {
  /** Looks at the policies, writes what was counted, signs what has grown. Called at the start and then every minute. */
  settle(): Promise<void>
  /**
   * Writes what was counted, whatever its minute, and signs what has grown: nobody else does until the next start. What `settle` signs
   * meanwhile ends with the chain that it is at.
   * @throws what the store throws to counts
   */
  close(): Promise<void>
}

const GATEWAY = { kind: 'gateway' } as const

/** The audit log: what was refused, what operators edited, and heads that anybody can check. */
export function createAudit(parts: AuditParts): OpenAudit {
  const { store, documents, policies, log, now, closeMs = 5_000 } = parts
  const heads = createHeads(parts)
  const ending = new AbortController()
  const repetitions = createRepetitions(
    (events) => store.appendAuditEvents(events, GATEWAY),
    ({ chain, event }, err) =>
      log.error({ chain, refused: event, err }, 'the store refuses an event of the audit log'),
  )

  async function notePolicy(kind: DocumentKind<unknown>): Promise<void> {
    const { value, problem } = await documents.read(kind)
    // What cannot be read is no policy: each process goes on with what it had.
    if (problem !== undefined) return
    const { text = '' } = await documents.readText(kind)
    const digest = digestText(text)
    await store.noteDocument({
      name: kind.name,
      digest,
      formerly: digestCanonical(value),
      event: {
        chain: INSTALLATION_CHAIN,
        at: now(),
        event: 'policy.changed',
        subject: { type: 'document', id: kind.name },
        detail: { digest },
      },
      acting: GATEWAY,
    })
  }

  /** A stop is no failure where the store is away: the next start signs. */
  async function signBeforeEnd(): Promise<void> {
    const signal = AbortSignal.timeout(closeMs)
    let err: unknown
    const isSigned = await within(
      closeMs,
      heads.signAll(signal).then(() => !signal.aborted),
    ).catch((thrown: unknown) => {
      err = thrown
      return false
    })
    if (!isSigned)
      log.warn({ err }, 'security: the newest events of the audit log are not signed before the next start')
  }

  return {
    async read({ chain, after, limit }) {
      const newest = await store.getAuditChain(chain)
      if (!newest) return { chain, events: [], heads: [], head: null, intact: true, next: null }
      const signed = await heads.sign(newest)
      const end = signed?.seq ?? newest.seq
      const [before, rows] = await Promise.all([
        after === 0 ? [] : store.listAuditEvents({ chain, after: after - 1, upTo: after, limit: 1 }),
        store.listAuditEvents({ chain, after, upTo: end, limit }),
      ])
      const last = rows.at(-1)?.seq ?? after
      const events = rows.flatMap((row) => toEvent(row) ?? [])
      const isWhole =
        heads.isWhole(chain, rows, after === 0 ? BEGINNING : before[0]) && events.length === rows.length
      const stored = await store.listAuditHeads({ chain, after, upTo: last })
      return {
        chain,
        events,
        heads: stored.map(({ jws }) => jws).filter(heads.isOfWorth),
        head: isWhole && signed ? signed.jws : null,
        intact: isWhole && signed !== undefined,
        next: rows.length === limit && last < end ? last : null,
      }
    },

    search: (filter, page) => searchEvents(store, filter, page),

    async refused(call) {
      try {
        const event = await describeRefusal(store, call, now())
        if (event) await repetitions.note(event)
      } catch (thrown) {
        log.error({ [LogField.requestId]: call.requestId, err: thrown }, 'a refusal is not in the audit log')
      }
    },

    settle: () =>
      eachInTurn([
        ...policies.map((kind) => () => notePolicy(kind)),
        () => repetitions.flush(now()),
        () => heads.signAll(ending.signal),
      ]),

    close() {
      ending.abort()
      return eachInTurn([() => repetitions.flush(Infinity), signBeforeEnd])
    },
  }
}

/**
 * One that fails keeps no other from its turn.
 * @throws what the first that failed threw, once all had theirs
 */
async function eachInTurn(parts: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const part of parts)
    try {
      await part()
    } catch (thrown) {
      failures.push(thrown)
    }
  if (failures.length > 0) throw failures[0]
}
