// Callers who go on until they are stopped, and whoever waits for what they were answered.
import type { Load } from './fault.ts'

export interface Shift {
  /** No new calls. */
  isStopping(): boolean
  /** Nobody waits for the answers of those under way any more. */
  isAbandoned(): boolean
  /** Tells of a call that was acknowledged: by which replica, and when it began. */
  acknowledged(replica: number, beganAt: number): void
}

/** @param work of one of them, until the shift is stopping */
export function startWorkers(
  {
    workers: count,
    replicas,
    stretch,
  }: { readonly workers: number; readonly replicas: number; readonly stretch: number },
  work: (worker: number, shift: Shift) => Promise<void>,
): Load & { abandon(): Promise<void> } {
  const goal = { isStopping: false, isAbandoned: false }
  const listeners = new Set<(replica: number, beganAt: number) => void>()
  let acknowledged = 0
  const shift: Shift = {
    isStopping: () => goal.isStopping,
    isAbandoned: () => goal.isAbandoned,
    acknowledged(replica, beganAt) {
      acknowledged++
      for (const listener of listeners) listener(replica, beganAt)
    },
  }
  const workers = Array.from({ length: count }, (_, i) => work(i, shift))
  const until = (isDone: (replica: number, beganAt: number) => boolean) =>
    new Promise<void>((resolve) => {
      const listener = (replica: number, beganAt: number) => {
        if (!isDone(replica, beganAt)) return
        listeners.delete(listener)
        resolve()
      }
      listeners.add(listener)
    })
  return {
    stretch,
    acknowledge(more) {
      const enough = acknowledged + more
      return until(() => acknowledged >= enough)
    },
    recover() {
      const since = performance.now()
      const waiting = new Set(Array.from({ length: replicas }, (_, i) => i))
      return until((replica, beganAt) => {
        if (beganAt >= since) waiting.delete(replica)
        return waiting.size === 0
      })
    },
    async stop(patienceMs) {
      goal.isStopping = true
      // A call that has no final answer by then will have none.
      const late = setTimeout(() => (goal.isAbandoned = true), patienceMs)
      await Promise.all(workers)
      clearTimeout(late)
    },
    async abandon() {
      goal.isStopping = goal.isAbandoned = true
      await Promise.all(workers)
    },
  }
}
