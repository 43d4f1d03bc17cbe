// A rotation of the wrapping authority as a job: one at a time for all replicas, progress on disk, taken over from a process that
// died. Every step may be done twice, because nobody knows whether the one who died had done it.
import type { AuthorityRotation } from '../../../schemas/authority.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Fault } from '../../lib/fault-points.ts'
import type { Logger } from '../../lib/log.ts'
import { toTimestamp, toTimestampOrNull } from '../../lib/timestamp.ts'
import type { Rotation, Store } from '../../store/ports.ts'
import { faultIn } from '../authority/fault.ts'
import { type Authority, KeyNotReplaceable } from '../ports.ts'
import type { SealGate } from '../sealing.ts'
import { publishAuthority } from './keys.ts'
import { rewrapAll } from './rewrap.ts'

export interface RotationParts {
  readonly store: Store
  readonly authority: Authority
  readonly seals: SealGate
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
  /** Milliseconds before a step that could not be done (store or key file away) is tried again. */
  readonly retryMs?: number
}

export interface Rotations {
  /**
   * Begins a rotation, and waits a moment for its end: that of a small installation is over by then.
   * @throws {GatewayError} state_conflict while one runs, where the current key cannot be read or replaced, or where records could not be opened: then no old key is forgotten
   */
  start(): Promise<AuthorityRotation>
  /** The newest rotation; undefined where there was none. */
  latest(): Promise<AuthorityRotation | undefined>
  /** Goes on with a rotation that a dead process left behind. */
  resume(): Promise<void>
  /** Stops after the batch at hand; another process, or the next start, goes on. */
  close(): Promise<void>
}

/** How long an answer waits for the end of the rotation that it began. */
const PATIENCE_MS = 5_000
const RETRY_MS = 2_000
const MAX_NAMED = 20

/** Rotations of this installation's wrapping key. */
export function createRotations(parts: RotationParts): Rotations {
  const { store, authority, seals, bootId, now, log, fault, retryMs = RETRY_MS } = parts
  let working: Promise<void> | undefined
  let isClosed = false
  let wake: (() => void) | undefined
  let notReplaceable: KeyNotReplaceable | undefined

  /** @throws where they cannot be read, or are not those that the records are under */
  async function readKeys(): Promise<void> {
    await authority.reload?.()
    await authority.check?.()
  }

  /** Writes the progress of a job that is still ours; false where somebody else took it over. */
  const advance = (id: string, change: Parameters<Store['advanceRotation']>[0]['change']) =>
    store.advanceRotation({ id, bootId, change, now: now() })

  /** Does what is left of the job, from the step that is written in it. */
  async function work(job: Rotation): Promise<void> {
    const { id } = job
    let { kid, retired, step, rewrapped: done } = job
    /** One pass, and another for as long as a key service has a newer version by its end: records are wrapped to the newest. */
    const pass = async () => {
      for (;;) {
        const wanted = kid ?? ''
        const isNewest = () => authority.current().kid === wanted
        let isOurs = true
        const broken = await rewrapAll({ store, authority }, wanted, async (rewrapped) => {
          done += rewrapped
          isOurs = rewrapped === 0 || (await advance(id, { rewrapped }))
          await fault.at('after_rewrap_batch')
          return isOurs && !isClosed && isNewest()
        })
        if (broken || !isOurs || isClosed || isNewest()) return broken
        // `wanted` is not retired: services tell of a new version late, and by turns.
        const newest = authority.current().kid
        kid = newest
        retired = retired.filter((old) => old !== newest)
        const { total } = await store.countWrapsNotUnder(newest)
        if (!(await advance(id, { kid, retired, total: done + total }))) return undefined
      }
    }
    const giveUp = (broken: ReadonlySet<string>) =>
      store.finishRotation({
        id,
        bootId,
        state: 'failed',
        credentialIds: [...broken].slice(0, MAX_NAMED),
        broken: broken.size,
        now: now(),
      })

    if (step === 'begun') {
      // The key that was current at the start tells whether the one who died had made another one.
      const rotated = await makeKey(job)
      if (!rotated) return void (await giveUp(new Set()))
      await fault.at('after_authority_key')
      ;({ kid } = rotated)
      await publishAuthority(parts)
      // What records are under was current elsewhere, where a key service was rotated by itself or takes the place of a file.
      const { total, kids } = await store.countWrapsNotUnder(kid)
      retired = [...new Set([...rotated.previous, ...kids])]
      if (!(await advance(id, { step: 'key_made', kid, retired, total }))) return
      step = 'key_made'
    } else {
      // This process may have read the file before the one that died made its key.
      await readKeys()
    }
    if (step === 'key_made') {
      await seals.settled()
      const broken = await pass()
      if (!broken) return
      if (broken.size > 0) return void (await giveUp(broken))
      if (!(await advance(id, { step: 'rewrapped' }))) return
      step = 'rewrapped'
    }
    // From here on nobody stores a record under an old key of this file; another replica may have done so until now. A key that only
    // gave way to a service is not retired: whoever goes back to it wraps under it at once.
    const { kid: current, publicJwk } = authority.current()
    retired = retired.filter((old) => old !== current)
    if (publicJwk !== undefined) for (const old of retired) await store.retireKey(old, now())
    await fault.at('after_authority_retired')
    const broken = await pass()
    if (!broken) return
    if (broken.size > 0) return void (await giveUp(broken))
    await authority.drop(retired)
    await fault.at('after_authority_dropped')
    await store.finishRotation({ id, bootId, state: 'done', credentialIds: [], broken: 0, now: now() })
  }

  /** @returns undefined where none can be made, however often it is tried */
  async function makeKey({ id, fromKid }: Rotation) {
    try {
      return await authority.rotate({ from: fromKid })
    } catch (thrown) {
      if (!(thrown instanceof KeyNotReplaceable)) throw thrown
      log.error({ rotation: id, err: thrown }, 'a rotation of the authority failed: no new key can be made')
      notReplaceable = thrown
      return undefined
    }
  }

  /** Works until the job has an end, or is somebody else's. */
  async function workOn(first: Rotation): Promise<void> {
    for (let job: Rotation | undefined = first; job;) {
      try {
        await work(job)
        return
      } catch (thrown) {
        log.warn(
          { rotation: job.id, err: thrown, why: faultIn(thrown)?.message },
          'a rotation of the authority could not go on; it is tried again',
        )
      }
      await pause()
      if (isClosed) return
      const left: Rotation | undefined = await store.getRotation(first.id).catch(() => job)
      job = left?.state === 'running' && left.bootId === bootId ? left : undefined
    }
  }
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, retryMs)
      timer.unref()
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  function begin(job: Rotation): Promise<void> {
    const worked = workOn(job).finally(() => {
      if (working === worked) working = undefined
    })
    working = worked
    return worked
  }

  return {
    async start() {
      // From the key of another replica's rotation, not the one before it: where that is gone already, no key would be made. And a
      // key that is made in an old copy of the file would be one that the others lack.
      await readKeys().catch((cause: unknown) => {
        log.error(
          { err: cause, why: faultIn(cause)?.message },
          'no rotation is begun: the wrapping key cannot be read',
        )
        throw keyAway(cause)
      })
      await authority.checkReplaceable?.()
      const { kid: fromKid } = authority.current()
      const begun = await store.beginRotation({ fromKid, bootId, now: now() })
      if (!begun.ok)
        throw new GatewayError(
          'state_conflict',
          `A rotation runs already: ${begun.running.id}, ${progressOf(begun.running)}. Ask for its progress ` +
            '(gateway.authority.rotation) and rotate again when it is done.',
          { reason: 'rotation_runs', extras: { rotation_id: begun.running.id } },
        )
      await fault.at('after_rotation_begun')
      await Promise.race([begin(begun.rotation), timeout(PATIENCE_MS)])
      const job = (await store.getRotation(begun.rotation.id)) ?? begun.rotation
      if (job.state === 'failed') throw (job.kid === null && notReplaceable) || couldNotOpen(job)
      return toRecord(job)
    },

    async latest() {
      const job = await store.latestRotation()
      return job && toRecord(job)
    },

    async resume() {
      if (working || isClosed) return
      const job = await store.takeOverRotation({ bootId, now: now() })
      if (!job) return
      log.warn({ rotation: job.id, step: job.step }, 'going on with a rotation of the authority that was cut')
      void begin(job)
    },

    async close() {
      isClosed = true
      wake?.()
      await working
    },
  }
}

const timeout = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())

const progressOf = ({ rewrapped, total }: Rotation) =>
  total === null ? 'its key is being made' : `${rewrapped} of ${total} record keys done`

const keyAway = (cause: unknown) => {
  const reason = faultIn(cause)?.reason
  const why =
    reason === 'authority_key'
      ? 'The key file of this replica lacks the key that the installation uses: copy the file from the replica where it was rotated'
      : 'The wrapping key cannot be read right now'
  return new GatewayError(
    'state_conflict',
    `${why}. No rotation was begun. The log of the gateway says more.`,
    { cause, ...(reason && { reason }) },
  )
}

const couldNotOpen = ({ rewrapped, broken, credentialIds }: Rotation) =>
  new GatewayError(
    'state_conflict',
    `The new key is in use and ${rewrapped} record keys were re-wrapped, but ${broken} could not be opened with ` +
      'any key this gateway has. The old keys are kept. If a key or a version of it was disabled or moved, bring it back; else ' +
      'replace or revoke those credentials. Then rotate again.',
    { extras: { credential_ids: [...credentialIds] } },
  )

/** A rotation as administrators read it. */
export function toRecord(job: Rotation): AuthorityRotation {
  return {
    rotation_id: job.id,
    state: job.state,
    kid: job.kid,
    retired: job.state === 'done' ? [...job.retired] : [],
    rewrapped: job.rewrapped,
    total: job.total,
    credential_ids: [...job.credentialIds],
    started_at: toTimestamp(job.createdAt),
    updated_at: toTimestamp(job.updatedAt),
    finished_at: toTimestampOrNull(job.finishedAt),
  }
}
