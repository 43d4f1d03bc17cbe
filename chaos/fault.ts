// What a fault is, and the one way in which each is tried: calls go on, the fault comes and goes, calls go on again; then what was
// acknowledged is looked for, and last the same check is shown to fail where it has to.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChaosRow } from '../src/documents/reliability.ts'

/** What is found after the fault. */
export interface Verdict {
  readonly acknowledged: number
  /** Acknowledged and not there any more, or there otherwise. */
  readonly lost: readonly string[]
  /** Done more than once at the other side. */
  readonly doubled: readonly string[]
  /** The caller was told that nobody knows whether it happened. */
  readonly unknown: number
  /** Everything else that is broken: a sum that is wrong, a negative balance, a secret in clear, work that is left undone. */
  readonly problems: readonly string[]
}

export const isSound = ({ lost, doubled, problems }: Verdict): boolean =>
  lost.length + doubled.length + problems.length === 0

/** Calls that go on until they are stopped, each repeated under its key until it has an answer that is final. */
export interface Load {
  /** How many acknowledged calls make a stretch of work, before the fault and after it. */
  readonly stretch: number
  /** Resolves when so many more calls have been acknowledged. */
  acknowledge(more: number): Promise<void>
  /** Resolves when every replica has acknowledged a call that began after this; the waiting is the caller's to bound. */
  recover(): Promise<void>
  /** Resolves when what runs has its final answer, or has not got it in this time. */
  stop(patienceMs: number): Promise<void>
}

/** The gateway with everything around it, under one kind of load. */
export interface Scene {
  readonly load: Load
  /** @param patienceMs what work that is under way has to be ended in */
  check(patienceMs: number): Promise<Verdict>
  close(): Promise<void>
}

interface OwnControl<S> {
  /** What is different, and so has to fail. */
  readonly what: string
  /** The same fault in a scene that makes a weaker promise. */
  open(): Promise<S>
  /** Another fault, where that of the row would show nothing. */
  inject?(scene: S): Promise<void>
}
interface SpoilingControl<S> {
  readonly what: string
  /** Changes what was found sound, behind the gateway's back. */
  spoil(scene: S): Promise<void>
}

export interface Fault<S extends Scene = Scene> {
  readonly name: string
  /** What does the same by hand. */
  readonly command: string
  readonly promise: string
  readonly notCovered: string
  /** What this machine lacks, in words; undefined where the fault can be tried. */
  missing?(): Promise<string | undefined>
  open(): Promise<S>
  /** Resolves when the fault is over or can be healed; it lasts as long as this takes. */
  inject(scene: S): Promise<void>
  /** What an operator or a supervisor does; nothing where the gateway is left to itself. */
  heal?(scene: S): Promise<void>
  readonly control: OwnControl<S> | SpoilingControl<S>
}

/** What has not recovered then needs a person. */
const RECOVERY_MS = 90_000
/** What is left under way is decided once a minute at the latest. */
const PATIENCE_MS = 75_000
/** A control is to fail: what it leaves undone is a finding, and not waited for. */
const CONTROL_PATIENCE_MS = 3000
const MOST_FAILURES = 8

/** Tries one fault and its control. Never throws: what went wrong is in the row. */
export async function tryFault<S extends Scene>(fault: Fault<S>): Promise<ChaosRow> {
  const { name, command, promise, notCovered } = fault
  const row = { fault: name, command, promise, notCovered, acknowledged: 0, lost: 0, doubled: 0, unknown: 0 }
  const failed = (failure: string): ChaosRow => ({
    ...row,
    recoverySeconds: null,
    control: 'not run',
    failures: [failure],
  })
  try {
    const missing = await fault.missing?.()
    if (missing !== undefined) return failed(`not run: ${missing}`)
    const scene = await fault.open()
    try {
      const { recoverySeconds, verdict } = await run(fault, scene, PATIENCE_MS)
      const failures = describe(verdict)
      if (recoverySeconds === null) failures.push(`no recovery within ${RECOVERY_MS / 1000} s`)
      const found = {
        ...row,
        acknowledged: verdict.acknowledged,
        lost: verdict.lost.length,
        doubled: verdict.doubled.length,
        unknown: verdict.unknown,
        recoverySeconds,
      }
      // A check that fails already shows nothing by failing again.
      if (failures.length > 0) return { ...found, control: 'not run', failures }
      const { control } = fault
      const spoiled = 'open' in control ? await runControl(fault, control) : await runSpoiled(scene, control)
      return {
        ...found,
        control: `${control.what}: ${summarise(spoiled)}`,
        failures: isSound(spoiled) ? [`the control found nothing: ${control.what}`] : [],
      }
    } finally {
      await scene.close()
    }
  } catch (thrown) {
    return failed(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))
  }
}

async function run<S extends Scene>(
  fault: Pick<Fault<S>, 'inject' | 'heal'>,
  scene: S,
  patienceMs: number,
): Promise<{ recoverySeconds: number | null; verdict: Verdict }> {
  const { load } = scene
  await load.acknowledge(load.stretch)
  await fault.inject(scene)
  const over = performance.now()
  await fault.heal?.(scene)
  const hasRecovered = await within(RECOVERY_MS, load.recover())
  const recoverySeconds = hasRecovered ? (performance.now() - over) / 1000 : null
  if (hasRecovered) await within(RECOVERY_MS, load.acknowledge(load.stretch))
  await load.stop(patienceMs)
  return { recoverySeconds, verdict: await scene.check(patienceMs) }
}

async function runControl<S extends Scene>(fault: Fault<S>, control: OwnControl<S>): Promise<Verdict> {
  const scene = await control.open()
  try {
    const other = { ...fault, inject: control.inject ?? fault.inject }
    return (await run(other, scene, CONTROL_PATIENCE_MS)).verdict
  } finally {
    await scene.close()
  }
}

async function runSpoiled<S extends Scene>(scene: S, control: SpoilingControl<S>): Promise<Verdict> {
  await control.spoil(scene)
  return scene.check(CONTROL_PATIENCE_MS)
}

async function within(ms: number, done: Promise<void>): Promise<boolean> {
  const limit = new AbortController()
  const late = sleep(ms, false, { signal: limit.signal }).catch(() => false)
  const isDone = await Promise.race([done.then(() => true), late])
  limit.abort()
  return isDone
}

function describe({ lost, doubled, problems }: Verdict): string[] {
  const all = [
    ...lost.map((text) => `lost: ${text}`),
    ...doubled.map((text) => `doubled: ${text}`),
    ...problems,
  ]
  const more = all.length - MOST_FAILURES
  return more > 0 ? [...all.slice(0, MOST_FAILURES), `and ${more} more`] : all
}

function summarise({ acknowledged, lost, doubled, problems }: Verdict): string {
  const parts = [`${lost.length} of ${acknowledged} lost`]
  if (doubled.length > 0) parts.push(`${doubled.length} doubled`)
  if (problems.length > 0) parts.push(`${problems.length} other findings, such as: ${problems[0]}`)
  return parts.join(', ')
}
