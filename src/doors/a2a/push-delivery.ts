// Tells clients of their tasks. Nothing that is to be told is kept in memory: each look at the store finds the configurations whose task
// is in a state that they were not told, takes a few of them, and tells those. What is not taken is told again, later and later.
import type { Logger } from '../../lib/log.ts'
import type { Store, PushConfig } from '../../store/ports.ts'
import type { WebhookSender } from '../../outbound/webhook.ts'
import type { KnownTask } from './task-store.ts'
import type { Notification } from './push-notification.ts'
import { pause } from './pause.ts'
import { isTerminal } from './task-state.ts'

const SECOND = 1000
/** Seconds to the next try; the sixth is the last. */
export const PAUSES_S = [5, 30, 120, 600, 1800] as const
/** Longer than telling may take: then whoever took it has died. */
const BUSY_MS = 60 * SECOND
const LOOK_MS = 2 * SECOND
/** A change that this process made is told at once; many that come together cost one look. */
const GATHER_MS = 20
/** Told at the same time, and of those to one receiver or for one client: a slow one stops nobody else. */
const MAX_AT_ONCE = 32
const SHARE = { perHost: 2, perHolder: 4 }
/** Tasks that nobody wrote to for so long are looked at: their process may have died, and reading them says so. */
const SILENT_MS = 15 * SECOND
const SILENT_LIMIT = 100

export interface PushDeliveryParts {
  readonly store: Pick<Store, 'engine' | 'takePushes' | 'finishPush' | 'listSilentPushTasks'>
  /** @throws {TaskNotFoundError} */
  readonly readTask: (id: string, owner: string) => Promise<KnownTask>
  /** @throws where what is sealed cannot be opened */
  readonly write: (config: PushConfig, known: KnownTask) => Notification
  readonly post: WebhookSender['post']
  readonly log: Logger
  readonly now: () => number
}

export interface PushDelivery {
  /** A task was written, or somebody wants to be told. */
  changed(): void
  /** Somebody wants to be told from now on. */
  added(): void
  /** Ends what is under way: it is told again by whoever comes next. */
  close(): Promise<void>
}

export function createPushDelivery(parts: PushDeliveryParts): PushDelivery {
  const { store, readTask, log, now } = parts
  const closing = new AbortController()
  const busy = new Map<PushConfig, Promise<void>>()
  /** Nobody waits to be told anything, as far as this process knows: where it is alone, it need not ask. */
  let isQuiet = false
  let looking: Promise<void> | undefined
  let isStale = false
  let gathering: NodeJS.Timeout | undefined
  let silenceLookedAt = 0
  /** Whoever is alone knows that what an earlier process took is told by nobody. */
  let isFirst = store.engine === 'sqlite'

  const timer = setInterval(() => {
    if (!isQuiet || store.engine === 'postgres') look()
  }, LOOK_MS)
  timer.unref()

  function look(): void {
    if (closing.signal.aborted) return
    if (looking) {
      isStale = true
      return
    }
    isStale = false
    looking = Promise.all([takeDue(), endSilent()])
      .then(() => {})
      .catch((err: unknown) => {
        if (!closing.signal.aborted) log.warn({ err }, 'a2a notifications could not be looked for')
      })
      .finally(() => {
        looking = undefined
        if (isStale) look()
      })
  }

  async function takeDue(): Promise<void> {
    const room = MAX_AT_ONCE - busy.size
    if (room <= 0) return
    const at = isFirst ? now() + BUSY_MS : now()
    const { taken, isAnyActive } = await store.takePushes({
      now: at,
      busyUntil: at + BUSY_MS,
      limit: room,
      share: SHARE,
      busy: [...busy.keys()].map(({ host, holder }) => ({ host, holder })),
    })
    isQuiet = !isAnyActive
    isFirst = false
    for (const config of taken) {
      const told = tell(config)
        .catch((err: unknown) => log.warn({ err, task: config.taskId }, 'an a2a notification failed'))
        .finally(() => {
          busy.delete(config)
          // Others may have waited for its share.
          look()
        })
      busy.set(config, told)
    }
  }

  async function endSilent(): Promise<void> {
    if (isQuiet || now() - silenceLookedAt < SILENT_MS) return
    const before = silenceLookedAt === 0 ? now() : now() - SILENT_MS
    silenceLookedAt = now()
    const asked = { before, after: now(), limit: SILENT_LIMIT }
    for (const { taskId, holder } of await store.listSilentPushTasks(asked))
      await readTask(taskId, holder).catch(() => {})
  }

  async function tell(config: PushConfig): Promise<void> {
    let known: KnownTask
    let notification: Notification
    const giveUp = (problem: string) =>
      store.finishPush({ taken: config, nextAt: null, now: now(), ended: { problem, tries: config.tries } })
    try {
      known = await readTask(config.taskId, config.holder)
    } catch {
      return giveUp('no_task')
    }
    try {
      notification = parts.write(config, known)
    } catch (err) {
      log.warn({ err, task: config.taskId }, 'an a2a notification could not be written')
      return giveUp('unwritable')
    }
    const problem = await parts.post({
      ...notification,
      url: config.url,
      partition: `a2a notifications ${config.holder}`,
      signal: closing.signal,
    })
    if (problem === undefined) {
      const { state } = known.task.status
      const nextAt = isTerminal(state) ? null : now()
      return store.finishPush({
        taken: config,
        nextAt,
        now: now(),
        ended: { told: { state, revision: known.revision } },
      })
    }
    if (closing.signal.aborted)
      return store.finishPush({
        taken: config,
        nextAt: now(),
        now: now(),
        ended: { problem: 'gateway_stopped', tries: config.tries - 1 },
      })
    // Nothing is there any more, and the receiver says so itself.
    const pauseS = problem === 'status_410' ? undefined : PAUSES_S[config.tries - 1]
    if (pauseS === undefined) return giveUp(problem)
    return store.finishPush({
      taken: config,
      nextAt: now() + pauseS * SECOND,
      now: now(),
      ended: { problem, tries: config.tries },
    })
  }

  const soon = () => {
    gathering ??= setTimeout(() => {
      gathering = undefined
      look()
    }, GATHER_MS).unref()
  }

  return {
    changed() {
      if (!isQuiet) soon()
    },
    added() {
      isQuiet = false
      soon()
    },
    async close() {
      clearInterval(timer)
      clearTimeout(gathering)
      closing.abort()
      await Promise.race([Promise.allSettled([looking, ...busy.values()]), pause(CLOSE_MS)])
    },
  }
}

const CLOSE_MS = 5_000
