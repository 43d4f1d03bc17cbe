const TRIES = 3

/**
 * CPU milliseconds of this process meanwhile: the clock counts what else the machine has to do, too. The least of three: V8's threads
 * count as well, and collect now and then what other tests left.
 */
export function cpuMs(run: () => unknown): number {
  return Math.min(...Array.from({ length: TRIES }, () => once(run)))
}

function once(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
